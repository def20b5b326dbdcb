# The stages of .ci/run and .ci/full, which source this file.
#
# A stage is a function. Its name is printed before it runs and its time after; the first failure ends the run. A stage
# whose requirements are missing is skipped and prints why. `together` runs stages without common state in parallel.
# After `remember`, a stage that passed on this commit is not run again, and its environments stay in build/ci.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
shared=${ABSOLVE_SHARED:-$root/../shared}
exec </dev/null
export CI=${CI:-true} PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore PYTHONUTF8=1
unset ABSOLVE_PURE PYTHONPATH VIRTUAL_ENV
scratch=$(mktemp -d)
current=start
cases=()
for name in resolve base html values xml mime http_warc; do cases+=("$shared/cases/$name.jsonl"); done

finish() {
    local status=$? jobs
    jobs=$(jobs -p)
    [ -z "$jobs" ] || kill $jobs 2>/dev/null || true # parallel stages, after an interrupt
    [ -d "$scratch/passed" ] || rm -rf "$scratch"
    [ "$status" = 0 ] || echo "== $current: FAILED" >&2
}
trap finish EXIT

remember() { # keep the environments and the names of the stages that pass, for this commit
    if [ -n "$(git status --porcelain)" ]; then
        echo "commit first: stages are remembered for a commit" >&2
        return 1
    fi
    rm -rf "$scratch"
    scratch=$root/build/ci/$(git rev-parse HEAD)
    mkdir -p "$scratch/passed"
}

stage() { # NAME COMMAND...: run the command, unless it passed before; print its name before it and its time after it
    local began=$SECONDS record="$scratch/passed/${1//[^A-Za-z0-9]/-}"
    current=$1
    if [ -e "$record" ]; then
        echo "== $current: passed before, in $(cat "$record") s"
        return
    fi
    echo "== $current"
    "${@:2}"
    echo "== $current: passed in $((SECONDS - began)) s"
    [ ! -d "$scratch/passed" ] || echo "$((SECONDS - began))" >"$record"
}

together() { # NAME FUNCTION [NAME FUNCTION]...: run stages in parallel; print their output when all have ended
    local names=() processes=() failed=() number
    current=side_by_side
    while [ $# -gt 0 ]; do
        (stage "$1" "$2") >"$scratch/together-${#names[@]}" 2>&1 &
        names+=("$1")
        processes+=($!)
        shift 2
    done
    for number in "${!names[@]}"; do
        wait "${processes[$number]}" || failed+=("${names[$number]}")
        cat "$scratch/together-$number"
    done
    [ ${#failed[@]} = 0 ] || { current="${failed[*]}" && return 1; }
}

has_shared() { # true if the shared folder exists; else print that its users are skipped
    [ -e "$shared/check_cases.py" ] || { echo "skipped: there is no $shared (set ABSOLVE_SHARED)" && return 1; }
}

# --- the machine ---

suits() { # PYTHON: true if it is 3.11 or newer and can create a virtual environment
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

has_headers() { # PYTHON: true if its C headers are installed
    "$1" -c 'import os, sys, sysconfig; sys.exit(not os.path.isfile(os.path.join(sysconfig.get_path("include"), "Python.h")))' 2>/dev/null
}

find_python() { # print the first suitable interpreter: python3 on PATH, then those with a version in the name
    local name
    for name in $(type -ap python3 python3.11 python3.12 python3.13 python3.14); do
        if suits "$name" && has_headers "$name"; then
            "$name" -c 'import sys; print(sys.executable)'
            return
        fi
    done
}

machine() { # ensure a C compiler and a suitable `python3`: no stage, it sets PATH
    local python
    python=$(find_python)
    if [ -z "$python" ] || ! command -v cc >/dev/null; then
        if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
            echo "install Python 3.11 or newer with venv and its C headers, and a C compiler" >&2
            return 1
        fi
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends gcc libc6-dev python3 python3-dev python3-venv
        hash -r
        python=$(find_python)
    fi
    if [ -z "$python" ]; then
        echo "no Python 3.11 or newer, and the distribution has none" >&2
        return 1
    fi
    # README's commands call python3: make that the interpreter that was found.
    mkdir -p "$scratch/bin"
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >"$scratch/bin/python3"
    chmod +x "$scratch/bin/python3"
    export PATH=$scratch/bin:$PATH
    python3 --version
    echo "cc $(cc -dumpversion)"
}

has_browser() {
    [ -n "$(type -P chromium chromium-browser google-chrome)" ]
}

browser() { # ensure Chromium and Firefox for the tests of what browsers do, which are skipped without them
    if has_browser && [ -n "$(type -P firefox-esr firefox)" ]; then
        return
    fi
    ! debian "no browser" chromium firefox-esr kiwix-tools || chromium --version 2>/dev/null # the last package opens ZIM
}

servers() { # ensure nginx, Apache and strace for tests of network calls, cmark-gfm and PHP: tests skip what is missing
    if [ "$(PATH=$PATH:/usr/sbin type -P nginx apache2 strace cmark-gfm php | wc -l)" = 5 ]; then
        return
    fi
    RUNLEVEL=1 debian "no nginx, Apache, strace, cmark-gfm or PHP" nginx-light apache2 strace cmark-gfm php-cli || true # no service starts at that level
}

debian() { # WHAT PACKAGE...: install packages of Debian, or print that what needs them is skipped
    if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends "${@:2}" >/dev/null
    else
        echo "skipped: $1 is installed, and only root can install Debian's"
        return 1
    fi
}

# --- requirements ---

pinned() { # NAME: constrain all later calls of pip to the versions of .ci/requirements/NAME.txt
    # Without hashes: pip would demand one for the project itself, too.
    sed -E '/^ +(--hash|#)/d; s/ \\$//' ".ci/requirements/$1.txt" >"$scratch/$1-versions.txt"
    export PIP_CONSTRAINT=$scratch/$1-versions.txt PIP_BUILD_CONSTRAINT=$scratch/$1-versions.txt
}

install_locked() { # PYTHON NAME: install .ci/requirements/NAME.txt, each file checked by its hash
    env -u PIP_CONSTRAINT "$1" -m pip install -q --no-compile --require-hashes -r ".ci/requirements/$2.txt"
}

environments() { # the dependencies first, so that README's commands install only the project; and the developer tools
    python3 -m venv .venv
    install_locked .venv/bin/python test
    python3 -m venv "$scratch/tools" # apart: README's commands run without them, but they see the dependencies
    local packages='import sysconfig; print(sysconfig.get_path("purelib"))'
    .venv/bin/python -c "$packages" >"$("$scratch/tools/bin/python" -c "$packages")/dependencies.pth"
    install_locked "$scratch/tools/bin/python" dev
}

# --- what users get ---

distributions() { # build the wheel from the source distribution alone; keep build/ for README's commands
    rm -rf "$scratch/dist" "$scratch/source"
    python3 -m venv "$scratch/build"
    "$scratch/build/bin/python" -m pip install -q build
    {
        "$scratch/build/bin/python" -m build --sdist --outdir "$scratch/dist" . &&
        mkdir "$scratch/source" &&
        tar -xzf "$scratch"/dist/*.tar.gz -C "$scratch/source" --strip-components 1 &&
        "$scratch/build/bin/python" -m build --wheel --outdir "$scratch/dist" "$scratch/source"
    } >"$scratch/build.log" 2>&1 || {
        cat "$scratch/build.log"
        return 1
    }
    mkdir -p build
    cp -a "$scratch/source/build/." build/
    (cd "$scratch/dist" && ls)
}

wheel() { # check the wheel in an environment without anything else
    python3 -m venv "$scratch/wheel"
    "$scratch/wheel/bin/python" -m pip install -q "$scratch"/dist/*.whl
    (cd "$scratch" && wheel/bin/python "$root/.ci/smoke.py" compiled)
    cases_by_the_library "$scratch/wheel/bin/python"
}

repaired() { # the wheel as a release has it: repaired by auditwheel, installed without a compiler; and the pure wheel
    if [ "$(uname -s)" != Linux ]; then
        echo "skipped: auditwheel repairs wheels for Linux"
        return
    fi
    PATH=$scratch/tools/bin:$PATH auditwheel repair --wheel-dir "$scratch/repaired" "$scratch"/dist/*-linux_*.whl
    (cd "$scratch/repaired" && ls)
    .ci/bare "$scratch"/repaired/*.whl
    ABSOLVE_PURE=1 "$scratch/tools/bin/python" -m build --wheel --outdir "$scratch/pure-wheel" "$scratch/source" >"$scratch/build.log" 2>&1 || {
        cat "$scratch/build.log"
        return 1
    }
    python3 -m venv "$scratch/pure-environment"
    "$scratch/pure-environment/bin/python" -m pip install -q "$scratch"/pure-wheel/*-py3-none-any.whl
    (cd "$scratch" && pure-environment/bin/python "$root/.ci/smoke.py" interpreted)
}

hook_and_action() { # as pre-commit and GitHub install them: the source, then their command
    python3 -m venv "$scratch/hook"
    ABSOLVE_PURE=1 "$scratch/hook/bin/python" -m pip install -q "$scratch"/dist/*.tar.gz
    PATH=$scratch/hook/bin:$PATH python .ci/hook_and_action.py
}

cases_by_the_library() { # PYTHON: run the acceptance cases of the shared folder
    if has_shared; then
        (cd "$scratch" && "$1" "$shared/check_cases.py" --library "${cases[@]}")
    fi
}

tested_is_built() { # check that the tested files are byte for byte those of the wheel
    (cd "$scratch" && "$root/.venv/bin/python" "$root/.ci/smoke.py" compiled)
    .venv/bin/python .ci/same_files.py "$scratch"/dist/*.whl
}

no_compiler() { # the installation must succeed although the compiler fails
    python3 -m venv "$scratch/without"
    CC=false "$scratch/without/bin/python" -m pip install -q "$scratch"/dist/*.tar.gz
    (cd "$scratch" && without/bin/python "$root/.ci/smoke.py" interpreted)
    cases_by_the_library "$scratch/without/bin/python"
}

# --- README's commands ---

readme_command() { # PATTERN: print the one set-up line in README.md's code blocks that matches
    local lines
    lines=$(sed -nE 's/^ *(\$ )?(python3 -m venv .*)/\2/p' README.md | grep -e "$1" || true)
    if [ -z "$lines" ] || [ "$(wc -l <<<"$lines")" != 1 ]; then
        echo "README.md should have one set-up line with '$1'" >&2
        return 1
    fi
    echo "$lines"
}

from_readme() { # PATTERN: run that line unchanged
    local line
    line=$(readme_command "$1")
    echo "$line"
    bash -euo pipefail -c "$line"
}

main_job() { # README's other command: check only that it prints more than one line
    from_readme 'absolve rewrite' >"$scratch/main-job"
    test "$(wc -l <"$scratch/main-job")" -gt 1
}

with_nothing_beside() { # README's test command without ../shared: all tests are collected, those that need it are skipped
    local clone=$scratch/alone/absolve line
    line=$(readme_command '-m pytest')
    line="${line##*&& } -m 'slow or not slow'"
    rm -rf "$clone"
    mkdir -p "$clone"
    # Parallel stages create files in the folder: tar's status 1 only means that it changed meanwhile.
    { tar -cf - --exclude ./.git --exclude ./.venv --exclude ./build --exclude './.*_cache' --exclude '*.so' . || [ $? = 1 ]; } |
        tar -xf - -C "$clone"
    ln -s "$root/.venv" "$clone/.venv"
    (
        cd "$clone"
        unset ABSOLVE_SHARED
        echo "$line --collect-only"
        bash -euo pipefail -c "$line --collect-only -q -p no:cacheprovider" >"$scratch/collected"
        awk -F ': ' '{ number += $2 } END { print number " tests"; exit !number }' "$scratch/collected"
        line="$line tests/conformance --ignore tests/conformance/test_base_in_browsers.py" # it needs no file, and time
        echo "$line"
        bash -euo pipefail -c "$line -p no:cacheprovider"
    )
}

readme_tests() {
    from_readme '-m pytest'
}

real_files() { # a sample of the slow tests: every 40th real file, and all pages with results of a browser
    if has_shared; then
        .venv/bin/python -m pytest -q -n auto -m slow tests/conformance
    fi
}

# --- the code ---

ruff() {
    "$scratch/tools/bin/ruff" check
}

mypy() { # and pyright, on the tasks of the library and on misspelt options
    "$scratch/tools/bin/mypy"
    PYTHONPATH=$root/src "$scratch/tools/bin/python" -m pytest -q -n 0 -m 'slow or not slow' tests/test_typing.py
}

pages() { # links, names, codes and generated parts of the documentation; pins and licences
    .venv/bin/python docs/check_pages.py
}

workflows() { # rights, expressions and scripts of the workflows and of the action
    "$scratch/tools/bin/zizmor" --offline --no-progress --quiet --config .github/zizmor.yml .github/workflows action.yml
}

races() { # print how many times as fast as its peers the wheel is; fail below the floors
    local race status=0
    has_shared || return 0
    "$scratch/wheel/bin/python" -m pip install -q pyarrow turbohtml
    for race in rewrite rows; do
        (cd "$scratch" && wheel/bin/python "$shared/race_$race.py" "$shared/pages") || status=1
    done
    return $status
}

races_shown() { # on a busy machine they vary too much to decide
    races || echo "below a floor: .ci/full fails for that"
}

# --- only in .ci/full ---

slow_tests() { # the slow tests but the ones on real files, with more pages and kills
    export ABSOLVE_EVERY=1 ABSOLVE_SHARE=1 ABSOLVE_KILLS=${ABSOLVE_KILLS:-20}
    .venv/bin/python -m pytest -q -n auto -m slow --ignore tests/conformance --ignore tests/generators
    .venv/bin/python -m pytest -q -n auto tests/cli/test_command_kills.py tests/formats/test_css.py
}

every_real_file() { # the tests of real pages, files and captures, on all of ../shared
    if has_shared; then
        ABSOLVE_EVERY=1 .venv/bin/python -m pytest -q -n auto -m slow tests/conformance
    fi
}

interpreted() { # the default suite on the uncompiled sources, with coverage
    local python=$scratch/pure/bin/python
    python3 -m venv "$scratch/pure"
    install_locked "$python" dev
    ABSOLVE_PURE=1 "$python" -m pip install -q --no-deps "$scratch"/dist/*.tar.gz
    (cd "$scratch" && pure/bin/python "$root/.ci/smoke.py" interpreted)
    COVERAGE_FILE=$scratch/coverage "$python" -m coverage run -m pytest -q -n auto -p no:cacheprovider
    COVERAGE_FILE=$scratch/coverage "$python" -m coverage combine -q "$scratch"
    COVERAGE_FILE=$scratch/coverage "$python" -m coverage report
}

cases_by_the_command() { # twice: rewriting a rewrite must not change it
    if has_shared; then
        "$scratch/wheel/bin/python" "$shared/check_cases.py" --absolve "$scratch/wheel/bin/absolve" --twice "${cases[@]}"
    fi
}

sanitizers() { # extensions compiled with AddressSanitizer and UndefinedBehaviorSanitizer
    if [ "$(gcc -print-file-name=libasan.so 2>/dev/null || echo libasan.so)" = libasan.so ]; then
        echo "skipped: there is no gcc with AddressSanitizer"
        return
    fi
    PYTHON=$scratch/tools/bin/python .ci/sanitize 10 10
}

site() { # the documentation, built strictly, audited by absolve itself, and opened in a browser; every example runs
    python3 -m venv "$scratch/docs"
    install_locked "$scratch/docs/bin/python" docs
    (
        pinned docs
        "$scratch/docs/bin/python" -m pip install -q "$scratch"/dist/*.whl
    )
    local python=$scratch/docs/bin/python
    "$python" -m sphinx -q -W --keep-going -b html -d "$scratch/doctrees" docs "$scratch/site"
    "$python" -m absolve audit "$scratch/site" --url https://absolve.example/
    # The examples use packages of the tests.
    ABSOLVE_SITE=$scratch/site .venv/bin/python -m pytest -q -n auto -p no:cacheprovider -m 'slow or not slow' \
        tests/test_site.py tests/test_site_browser.py
}

generators() { # sites of real generators: sound, with planted faults, and mirrored; build/generators keeps what was installed
    debian "no Hugo, Jekyll, Asciidoctor, Doxygen or pandoc" hugo jekyll jekyll-theme-minima ruby-jekyll-feed ruby-jekyll-relative-links \
        ruby-jekyll-seo-tag ruby-jekyll-sitemap asciidoctor doxygen pandoc || true
    [ -n "$(type -P npm)" ] || debian "no Node.js" nodejs npm || true
    env -u PIP_CONSTRAINT -u PIP_BUILD_CONSTRAINT ABSOLVE_GENERATORS_ALL=1 \
        .venv/bin/python -m pytest -q -n 0 -p no:cacheprovider -m slow tests/generators # each has versions of its own
}

on_spark() { # the wheel with Spark, in a separate environment; executors run in processes of their own
    if ! command -v java >/dev/null; then
        if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
            echo "skipped: no Java is installed, and only root can install Debian's"
            return
        fi
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq
        apt-get install -qq -y --no-install-recommends default-jre-headless >/dev/null
    fi
    python3 -m venv "$scratch/spark"
    install_locked "$scratch/spark/bin/python" spark
    (
        pinned spark
        "$scratch/spark/bin/python" -m pip install -q "$(echo "$scratch"/dist/*.whl)[spark]"
    )
    env -u SPARK_HOME timeout 2400 "$scratch/spark/bin/python" -m pytest -q -p no:cacheprovider -m slow tests/spark
}

other_python() { # PYTHON: install, compile and run with another version
    rm -rf "$scratch/other" # of the previous version
    "$1" -m venv "$scratch/other"
    "$scratch/other/bin/python" -m pip install -q "$scratch"/dist/*.tar.gz
    (cd "$scratch" && other/bin/python "$root/.ci/smoke.py" compiled)
}

other_pythons() { # one interpreter of each supported version that is installed
    local ours version python
    ours=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    for version in 3.11 3.12 3.13 3.14; do
        [ "$version" = "$ours" ] && continue
        for python in $(type -ap "python$version") "$(pyenv root 2>/dev/null || true)"/versions/"$version"*/bin/python3; do
            if [ -x "$python" ] && suits "$python" && has_headers "$python"; then
                stage "Python $version" other_python "$python"
                continue 2
            fi
        done
        echo "== Python $version: skipped: not installed with its C headers"
    done
}

# --- the two runs ---

run() { # the checks for each change
    echo "== machine"
    machine
    pinned dev
    together "requirements and tools" environments "source distribution and wheel" distributions
    stage "the wheel, installed" wheel
    stage "README's main job" main_job
    stage "README's tests" readme_tests
    stage "the tests ran on the files of the wheel" tested_is_built
    stage "real pages and files, and the view of a browser" real_files
    stage "lines and modules of each room" .venv/bin/python tests/test_layers.py
    stage "races" races_shown
    together "ruff" ruff "pages" pages "workflows" workflows "mypy, pyright" mypy "no compiler" no_compiler "README's tests, without the shared folder" with_nothing_beside
}

full() { # [FUNCTION...]: the slower checks, or only these
    browser
    servers
    chosen=("$@")
    when_chosen "the races, above their floors" races
    when_chosen "the wheel of a release, without a compiler" repaired
    when_chosen "the hook and the action" hook_and_action
    when_chosen "slow tests" slow_tests
    when_chosen "every real file" every_real_file
    when_chosen "cases by the command, twice" cases_by_the_command
    when_chosen "the suite, interpreted, and its coverage" interpreted
    when_chosen "sanitizers" sanitizers
    when_chosen "the documentation site" site
    when_chosen "sites of real generators" generators
    when_chosen "Spark" on_spark
    [ -n "${chosen[*]}" ] || other_pythons
}

when_chosen() { # NAME FUNCTION: run the stage if it was chosen, or if none was
    if [ -z "${chosen[*]}" ] || [[ " ${chosen[*]} " = *" $2 "* ]]; then
        stage "$1" "$2"
    fi
}
