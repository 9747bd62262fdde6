import Foundation
import QuietHTTP
import Testing

@Suite("What a route reads")
struct BodyLimitTests {
  @Test("A body one byte below the limit and one on it are taken, one above is refused with 413")
  func size() async throws {
    try await EchoServer().running { port async throws in
      let limit = EchoServer.limit.bytesMax
      #expect(try await Post(bytes: limit - 1).answer(port: port).status == 200)
      #expect(try await Post(bytes: limit).answer(port: port).status == 200)
      #expect(try await Post(bytes: limit + 1).answer(port: port).status == 413)
    }
  }

  @Test("A body announced as too large is refused before a byte of it has come")
  func announcedTooLarge() async throws {
    try await EchoServer().running { port async throws in
      var post = Post("")
      post.announced = 1 << 40
      let answer = try await post.answer(port: port)
      #expect(answer.status == 413)
      #expect(answer.headers["connection"] == "close")
    }
  }

  @Test("A body that never says how long it is is cut off once it is too large")
  func endlessChunks() async throws {
    try await EchoServer().running { port async throws in
      let head = Data(
        """
        POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n
        """.utf8)
      let chunk = Data("80\r\n\(String(repeating: "x", count: 128))\r\n".utf8)
      let pieces = [head] + Array(repeating: chunk, count: 60)
      let answer = try await WireAnswer(Wire.exchange(pieces, port: port, pause: 0.05))
      #expect(answer.status == 413)
    }
  }

  @Test("A client that stays too slow gets 408 when its time is up, and the next one is served")
  func tooSlow() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let post = Post(#"{"word":"hello"}"#)
      let half = post.body.count / 2
      let pieces = [post.head + post.body.prefix(half)]
      let start = ContinuousClock.now
      let answer = try await WireAnswer(Wire.exchange(pieces, port: port))
      #expect(answer.status == 408)
      #expect(ContinuousClock.now - start >= .seconds(EchoServer.limit.secondsMax))
      #expect(echo.effects.count == 0)
      #expect(try await post.answer(port: port).status == 200)
    }
  }

  @Test("A client that goes away in the middle of its body has no effect")
  func goneAway() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      post.announced = post.body.count + 1
      _ = try await Wire.exchange([post.head + post.body], port: port)
      #expect(echo.effects.count == 0)
    }
  }

  @Test(
    "Only JSON is taken, with or without parameters",
    arguments: [
      ("application/json", 200), ("Application/JSON; charset=utf-8", 200), ("text/plain", 415),
      ("application/jsonp", 415), ("", 415),
    ])
  func contentType(_ type: String, _ status: Int) async throws {
    try await EchoServer().running { port async throws in
      var post = Post(#"{"word":"hello"}"#)
      post.contentType = type
      #expect(try await post.answer(port: port).status == status)
    }
  }

  @Test(
    "JSON of another form is refused with 400 in the route's own form",
    arguments: [
      "", "{", "[]", "null", #"{"word":7}"#, #"{"other":"x"}"#,
    ])
  func malformed(_ body: String) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let answer = try await Post(body).answer(port: port)
      #expect(answer.status == 400)
      #expect(answer.json["message"] == "The body is not JSON of the form this route takes.")
      #expect(echo.effects.count == 0)
    }
  }
}
