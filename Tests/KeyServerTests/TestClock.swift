import TestSupport

/// The clock of tests.
typealias TestClock = ManualClock
