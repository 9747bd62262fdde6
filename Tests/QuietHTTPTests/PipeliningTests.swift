// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("Pipelined requests")
struct PipeliningTests {
  private static func page(_ name: String) -> String {
    "GET /people/\(name) HTTP/1.1\r\nHost: localhost\r\n\r\n"
  }

  /// Sends `bytes`, then reads until the server closes the connection; the statuses of the responses.
  private func statuses(_ bytes: Data, port: Int) async throws -> [String] {
    let reply = try await Wire.exchange([bytes], port: port)
    let text = String(decoding: reply, as: UTF8.self)
    return text.components(separatedBy: "HTTP/1.1 ").dropFirst().map { String($0.prefix(3)) }
  }

  @Test(
    "Requests up to the limit are answered in order, further ones are discarded",
    arguments: [0, 1, 50])
  func limit(more: Int) async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      // One request is answered while the others are held.
      let count = 1 + QuietLimit.pipelinedRequestsMax
      let requests = (0..<count + more).map { _ in Self.page("a") }.joined()
      let found = try await statuses(
        Data((requests + (more > 0 ? "" : Self.last)).utf8), port: port)
      #expect(found.count >= count && found.allSatisfy { $0 == "200" })
      if more > 1 { #expect(found.count < count + more) }
    }
  }

  private static let last = "GET /people/z HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

  @Test("A request begins when the response to the one before it was sent")
  func oneAtATime() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let client = try await Wire.aside {
        let client = try WireConnection(port: port)
        let first = String(decoding: Post(#"{"word":"held"}"#).bytesWithoutClose, as: UTF8.self)
        #expect(client.send(Data((first + Self.last).utf8)))
        return client
      }
      try await Patience.until { echo.effects.count == 1 }
      #expect(echo.effects.count == 1)
      // Meanwhile a broken server would serve the second request as well.
      for _ in 0..<20 {
        #expect(try await Post(#"{"word":"hello"}"#).response(port: port).status == 200)
      }
      #expect(!echo.log.lines.contains { $0.contains("/people") })
      echo.gate.open()
      let reply = try await Wire.aside {
        var reply = Data()
        while let part = client.receive(), !part.isEmpty { reply.append(part) }
        client.close()
        return String(decoding: reply, as: UTF8.self)
      }
      #expect(reply.components(separatedBy: "HTTP/1.1 200").count == 3)
    }
  }

  @Test(
    "Held bodies up to the limit stay, and a request beyond it is discarded", arguments: [-1, 0, 1])
  func heldBytes(offset: Int) {
    var held = HeldRequests()
    let sizes = [100, QuietLimit.pipelinedBytesMax - 100 + offset]
    for size in sizes {
      held.append(.part(.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/"))))
      held.append(.part(.body(ByteBuffer(repeating: 0, count: size))))
      held.append(.part(.end(nil)))
    }
    #expect(held.isFull == (offset > 0))
    var parts = 0
    while held.popFirst() != nil { parts += 1 }
    #expect(parts == (offset > 0 ? 3 : 6))
  }

  @Test("A client that pipelines large responses and reads none gets no second response")
  func unread() async throws {
    let echo = EchoServer()
    try await echo.running { port async throws in
      let requests = String(repeating: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", count: 10)
      let client = try await Wire.aside {
        let client = try WireConnection(port: port, receiveBytes: 4_096)
        #expect(client.send(Data(requests.utf8)))
        #expect(client.receive(atMost: 100)?.isEmpty == false)
        return client
      }
      for _ in 0..<20 {
        #expect(try await Post(#"{"word":"hello"}"#).response(port: port).status == 200)
      }
      #expect(echo.log.lines.count { $0.contains("GET /large") } == 1)
      client.close()
    }
  }

  @Test(
    "When the clients leave more unread than allowed, the one that waits longest is disconnected")
  func total() async throws {
    let echo = EchoServer { $0.unreadBytesMax = EchoServer.largeBytes * 3 / 2 }
    try await echo.running { port async throws in
      let clients = try await Wire.aside {
        try (0..<2).map { _ in
          let client = try WireConnection(port: port, receiveBytes: 4_096)
          #expect(client.send(Data("GET /large HTTP/1.1\r\nHost: a\r\n\r\n".utf8)))
          #expect(client.receive(atMost: 100)?.isEmpty == false)
          return client
        }
      }
      let counts = try await Wire.aside {
        clients.map { client in
          var count = 0
          while count < EchoServer.largeBytes, let part = client.receive(), !part.isEmpty {
            count += part.count
          }
          client.close()
          return count
        }
      }
      #expect(counts[0] < EchoServer.largeBytes)
      #expect(counts[1] >= EchoServer.largeBytes)
    }
  }
}

extension Post {
  /// The request on a connection that stays open.
  fileprivate var bytesWithoutClose: Data {
    Data(
      String(decoding: head + body, as: UTF8.self).replacing("Connection: close\r\n", with: "").utf8
    )
  }
}
