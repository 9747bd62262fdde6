import TestSupport

/// The random source of tests.
typealias SeededRandomness = TestRandomness
