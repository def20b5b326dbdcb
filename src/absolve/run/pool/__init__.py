"""Worker processes: tasks go out, results and large bytes come back in order.

In: functions and arguments. Out: their results, or the errors that they raised.
Does not know what the tasks do.
"""
