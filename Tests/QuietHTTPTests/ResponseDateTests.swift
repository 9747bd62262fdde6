// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("The header Date of responses")
struct ResponseDateTests {
  @Test("Responses state the time of the server's clock, also after it was set")
  func date() async throws {
    let clock = ManualClock(Date(timeIntervalSince1970: 784_111_777))
    try await EchoServer(clock: clock).running { port in
      for (path, status) in [("/people/anna", 200), ("/nothing", 404)] {
        let response = try await LoopbackClient.send("GET", "http://127.0.0.1:\(port)\(path)")
        #expect(response.status == status)
        #expect(response.headers["date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
      }
      clock.advance(by: 86_400)
      let later = try await LoopbackClient.send("GET", "http://127.0.0.1:\(port)/people/anna")
      #expect(later.headers["date"] == "Mon, 07 Nov 1994 08:49:37 GMT")
    }
  }
}
