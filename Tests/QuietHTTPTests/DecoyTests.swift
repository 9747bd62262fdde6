import Foundation
import QuietHTTP
import TestSupport
import Testing

@Suite("Decoys")
struct DecoyTests {
  private func decoy(_ body: String) -> Post {
    var post = Post(body)
    post.headers = ["X-Chaff: 1"]
    return post
  }

  @Test(
    "A decoy is answered with the status, headers and length of a real request, without effect",
    arguments: [
      #"{"word":"hello"}"#, #"{"padding":"AAAA"}"#, "no json",
    ])
  func looksReal(_ body: String) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let real = try await Post(#"{"word":"hello"}"#).answer(port: port)
      #expect(echo.effects.count == 1)
      let answer = try await decoy(body).answer(port: port)
      #expect(echo.effects.count == 1)
      #expect(answer.status == real.status)
      #expect(answer.headerNames == real.headerNames)
      #expect(answer.body.count == real.body.count)
      for name in real.headerNames where name != "date" {
        #expect(answer.headers[name] == real.headers[name])
      }
    }
  }

  @Test("A decoy keeps to the same limits as a real request")
  func sameLimits() async throws {
    try await EchoServer().running { port async throws in
      let long = String(repeating: "x", count: EchoServer.limit.bytesMax + 1)
      #expect(try await decoy(long).answer(port: port).status == 413)
    }
  }

  @Test("5.3 A decoy takes as long as a real request did")
  func sameTime() async throws {
    try await EchoServer().running { port async throws in
      _ = try await Post(#"{"word":"slow"}"#).answer(port: port)
      let start = ContinuousClock.now
      _ = try await decoy("{}").answer(port: port)
      // The only real one so far slept 300 ms; a machine under load can only make this longer.
      #expect(ContinuousClock.now - start >= .milliseconds(300))
    }
  }

  @Test("A decoy looks the same in the log")
  func sameLogLine() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      _ = try await Post(#"{"word":"hello"}"#).answer(port: port)
      _ = try await decoy("{}").answer(port: port)
    }
    let lines = echo.log.lines.filter { $0.contains("POST /echo 200") }
    #expect(lines.count == 2)
    #expect(!echo.log.lines.contains { $0.lowercased().contains("chaff") })
  }
}
