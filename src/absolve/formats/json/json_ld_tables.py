"""Tables of the properties of schema.org that have URLs for values: data, no code.

From the ranges in schema.org's own vocabulary (version 28). Every other property has text, numbers, or things for
values: a string there is no reference. `json_ld` looks properties up by their local name.
"""

from __future__ import annotations

from typing import Final

# The range is only URL: any string is a reference.
URLS: Final[dict[str, str]] = {
    **dict.fromkeys(("thumbnailUrl",), "image"),
    **dict.fromkeys(("contentUrl", "embedUrl"), "media"),
    **dict.fromkeys(
        (
            *("benefitsSummaryUrl", "codeRepository", "discussionUrl", "downloadUrl", "hasGS1DigitalLink"),
            *("healthPlanMarketingUrl", "installUrl", "labelDetails", "map", "maps", "merchantReturnLink"),
            *("paymentUrl", "prescribingInfo", "productReturnLink", "relatedLink", "replyToUrl", "sameAs"),
            *("serviceUrl", "shippingSettingsLink", "significantLink", "significantLinks", "targetUrl"),
            *("tourBookingPage", "trackingUrl", "url"),
        ),
        "metadata",
    ),
}

# The range is URL or a thing. Authors also write the thing's name, so a string is a reference only if it looks like one
# (grammars.likely). From `photo` on, URL is not in the range, but search engines read a string as a URL.
THINGS: Final[dict[str, str]] = {
    **dict.fromkeys(("colorSwatch", "image", "layoutImage", "logo", "screenshot"), "image"),
    **dict.fromkeys(("afterMedia", "beforeMedia", "duringMedia", "originalMediaLink"), "media"),
    **dict.fromkeys(
        (
            *("acquireLicensePage", "actionableFeedbackPolicy", "archivedAt", "associatedDisease", "colleague"),
            *("correctionsPolicy", "diseasePreventionInfo", "diseaseSpreadStatistics", "diversityPolicy"),
            *("diversityStaffingReport", "documentation", "ethicsPolicy", "gameLocation", "gettingTestedInfo"),
            *("hasDigitalProductPassport", "hasMap", "hasMolecularFunction", "inCodeSet", "inDefinedTermSet"),
            *("isBasedOn", "isBasedOnUrl", "isInvolvedInBiologicalProcess", "isLocatedInSubcellularLocation"),
            *("isPartOf", "license", "mainEntityOfPage", "masthead", "missionCoveragePrioritiesPolicy"),
            *("newsUpdatesAndGuidelines", "noBylinesPolicy", "publicTransportClosuresInfo", "publishingPrinciples"),
            *("quarantineGuidelines", "schoolClosuresInfo", "sdLicense", "season", "speakable", "target"),
            *("travelBans", "unnamedSourcesPolicy", "usageInfo", "verificationFactCheckingPolicy", "webFeed"),
        ),
        "metadata",
    ),
    **dict.fromkeys(("photo", "primaryImageOfPage", "thumbnail"), "image"),
    **dict.fromkeys(("audio", "video"), "media"),
    "item": "metadata",
}

# The range is URL or text: a relative reference cannot be distinguished from a word, so only absolute URLs are listed,
# and nothing is changed.
TEXTS: Final = frozenset(
    (
        *("acceptsReservations", "actionPlatform", "additionalType", "applicationCategory", "applicationSubCategory"),
        *("artMedium", "artform", "artworkSurface", "bankAccountType", "bodyType", "category", "childTaxon"),
        *("competencyRequired", "consumerNotice", "correction", "courseMode", "credentialCategory", "editEIDR"),
        *("educationalCredentialAwarded", "educationalLevel", "educationalProgramMode", "encodingFormat", "engineType"),
        *("featureList", "feesAndCommissionsSpecification", "fileFormat", "fuelType", "gamePlatform", "genre", "gtin"),
        *("hasMenu", "hasRepresentation", "identifier", "keywords", "knowsAbout", "legislationIdentifier", "loanType"),
        *("material", "measurementMethod", "measurementTechnique", "meetsEmissionStandard", "memoryRequirements"),
        *("menu", "namedPosition", "occupationalCredentialAwarded", "ownershipFundingInfo", "parentTaxon"),
        *("physicalRequirement", "propertyID", "releaseNotes", "requirements", "roleName", "schemaVersion"),
        *("securityClearanceRequirement", "sensoryRequirement", "softwareRequirements", "sport", "statType"),
        *("storageRequirements", "substanceOfConcern", "surface", "taxonRank", "taxonomicRange", "temporalCoverage"),
        *("termsOfService", "ticketToken", "titleEIDR", "unitCode", "usesHealthPlanIdStandard"),
        *("vehicleTransmission", "warning"),
    )
)
