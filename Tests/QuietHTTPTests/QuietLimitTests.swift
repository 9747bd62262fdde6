import Testing

@testable import QuietHTTP

/// The tests of a limit stand around its name, so that they hold whatever it is; what it is stands here.
@Suite("The numbers of the limits")
struct QuietLimitTests {
  @Test("Each is the one that was decided on")
  func numbers() {
    #expect((QuietLimit.connectionsMax, QuietLimit.connectionsPerAddressMax) == (1_024, 256))
    #expect((QuietLimit.idleSeconds, QuietLimit.bodySecondsMax) == (30, 20))
    #expect((QuietLimit.answerSecondsMax, QuietLimit.answerBytesMin) == (60, 65_536))
    #expect((QuietLimit.headerBytesMax, QuietLimit.headersMax) == (16_384, 100))
    #expect((QuietLimit.lingerSeconds, QuietLimit.shutdownSeconds) == (2, 10))
    #expect((QuietLimit.budgetKeysMax, QuietLimit.proxyPrefixBitsMin) == (100_000, 8))
    #expect((QuietLimit.answerTimesMax, QuietLimit.wakingDelaysMax) == (256, 64))
    #expect((QuietLimit.decoySecondsMax, QuietLimit.retryAfterSeconds) == (5, 30))
    #expect(QuietLimit.netmasksMax == 1_000)
    #expect(StrictJSON.depthMax == 16)
  }
}
