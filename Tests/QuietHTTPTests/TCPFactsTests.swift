import Testing

@testable import QuietHTTP

/// Documentation/QuietHTTP.md 2.6. `ConnectionTests` shows what Linux counts.
@Suite struct TCPFactsTests {
  @Test("What a peer has taken is known where our system counts bytes at all")
  func taken() {
    #expect(TCPFacts(bytesAcknowledged: 4_096, bytesReceived: 300).taken == 4_096)
    // A peer that took nothing of what it asked for.
    #expect(TCPFacts(bytesAcknowledged: 0, bytesReceived: 300).taken == 0)
    // It asked, since it is answered: a system that has received nothing of it does not count.
    #expect(TCPFacts(bytesAcknowledged: 0, bytesReceived: 0).taken == nil)
  }
}
