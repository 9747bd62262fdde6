// SPDX-License-Identifier: Apache-2.0
import Foundation
import Logging
import Secrets
import Synchronization
import TestSupport
import Testing
import UnixSockets

@testable import PhoneProcess

@Suite("The socket of a phone")
struct PhoneSocketTests {
  /// Serves requests in `folder` while `body` runs.
  private func serving(
    in folder: URL, _ perform: @escaping @Sendable (PhoneRequest) async -> PhoneReply,
    _ body: () async throws -> Void
  ) async throws {
    let socket = try PhoneSocket(in: folder, logger: Logger(label: "test"))
    let serving = Task { await socket.serve(perform) }
    do {
      try await body()
    } catch {
      serving.cancel()
      throw error
    }
    serving.cancel()
    await serving.value
  }

  private func connected(to folder: URL) throws -> UnixSocket {
    try UnixSocket.connected(to: .file(folder.appendingPathComponent(PhoneSocket.name).path))
  }

  private var patience: ContinuousClock.Instant { .now + .seconds(Patience.seconds) }

  @Test("A request and its PIN reach the phone, and the reply comes back")
  func roundTrip() async throws {
    let folder = try TemporaryFolder()
    try await serving(
      in: folder.url,
      { request in
        PhoneReply(
          .refused,
          "\(request.operation) \(request.pin.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })"
        )
      },
      {
        let request = PhoneRequest(
          .upload(sharesAbroad: true), pin: ZeroingBytes(copying: "ABC 12\n3".utf8))
        let reply = try await PhoneSocket.ask(request, in: folder.url, seconds: Patience.seconds)
        #expect(reply == PhoneReply(.refused, "\(request.operation) ABC 12\n3"))
      })
  }

  @Test("The PIN is not in the JSON of a request, nor in its description")
  func hiddenPIN() async throws {
    let request = PhoneRequest(
      .upload(sharesAbroad: false), pin: ZeroingBytes(copying: "ABC123".utf8))
    let folder = try TemporaryFolder()
    let listener = try UnixListener(at: folder.path("socket").path)
    let client = try UnixSocket.connected(to: .file(folder.path("socket").path))
    try PhoneMessage.send(request, to: client, before: patience)
    var connections = listener.connections.makeAsyncIterator()
    let server = try #require(await connections.next())
    let bytes = try server.receive(atMost: 1_000, before: patience)
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    #expect(line.contains("\"pinBytes\":6") && !line.contains("ABC123"))
    #expect(!"\(request) \(String(reflecting: request))".contains("ABC"))
    listener.stop()
  }

  @Test("Only the owner may open the socket, and the file is gone at the end")
  func permissions() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path(PhoneSocket.name)
    try await serving(
      in: folder.url, { _ in PhoneReply(.done, "") },
      {
        var facts = stat()
        #expect(stat(file.path, &facts) == 0)
        #expect(facts.st_mode & 0o777 == 0o600 && facts.st_mode & S_IFMT == S_IFSOCK)
        let socket = try connected(to: folder.url)
        #expect(socket.peerUser == geteuid())
      })
    #expect(!FileManager.default.fileExists(atPath: file.path))
    let reply = try await PhoneSocket.ask(
      PhoneRequest(.status), in: folder.url, seconds: Patience.seconds)
    #expect(reply == nil)
  }

  @Test("A socket file of a killed phone counts as no phone, and the next phone replaces it")
  func leftover() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path(PhoneSocket.name).path
    var listener: UnixListener? = try UnixListener(at: path)
    #expect(listener != nil)
    listener = nil
    try await Patience.until {
      (try? await PhoneSocket.ask(PhoneRequest(.status), in: folder.url, seconds: Patience.seconds))
        == .some(nil)
    }
    #expect(FileManager.default.fileExists(atPath: path))
    try await serving(
      in: folder.url, { _ in PhoneReply(.done, "new") },
      {
        let reply = try await PhoneSocket.ask(
          PhoneRequest(.status), in: folder.url, seconds: Patience.seconds)
        #expect(reply?.text == "new")
      })
  }

  @Test(
    "A folder with a path of any length has a socket", arguments: [80, 106, 107, 108, 109, 200])
  func pathLength(_ length: Int) async throws {
    let temporary = try TemporaryFolder()
    let used = temporary.url.path.utf8.count + PhoneSocket.name.utf8.count + 2
    let folder = temporary.path(String(repeating: "d", count: max(1, length - used)))
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try await serving(
      in: folder, { _ in PhoneReply(.done, "here") },
      {
        let reply = try await PhoneSocket.ask(
          PhoneRequest(.status), in: folder, seconds: Patience.seconds)
        #expect(reply?.text == "here")
        let file = folder.appendingPathComponent(PhoneSocket.name)
        #expect(FileManager.default.fileExists(atPath: file.path))
      })
  }

  @Test(
    "A request that is not understood gets a refusal",
    arguments: [
      ("", "does not understand"), ("{}", "another version"), ("[1]", "another version"),
      (#"{"version":1,"operation":{"dance":{}},"pinBytes":0}"#, "does not understand"),
      (#"{"version":2,"operation":{"status":{}},"pinBytes":0}"#, "another version"),
      (#"{"version":1,"version":1,"operation":{"status":{}},"pinBytes":0}"#, "understand"),
      (#"{"version":1,"operation":{"status":{}},"pinBytes":257}"#, "does not understand"),
      (#"{"version":1,"operation":{"status":{}},"pinBytes":-1}"#, "does not understand"),
    ])
  func malformed(_ line: String, _ words: String) async throws {
    let folder = try TemporaryFolder()
    try await serving(
      in: folder.url, { _ in PhoneReply(.done, "") },
      {
        let socket = try connected(to: folder.url)
        let end = patience
        let reply = try await UnixSocket.offThread {
          try socket.send(Array((line + "\n").utf8), before: end)
          return try PhoneMessage.receiveReply(from: socket, before: end)
        }
        #expect(reply.status == .badInput && reply.text.contains(words), "\(reply.text)")
      })
  }

  @Test("A request above the limit ends the connection, and the phone keeps serving")
  func requestLimit() async throws {
    let folder = try TemporaryFolder()
    try await serving(
      in: folder.url, { _ in PhoneReply(.done, "served") },
      {
        let socket = try connected(to: folder.url)
        let large = [UInt8](repeating: 0x20, count: PhoneMessageLimit.requestBytesMax + 200_000)
        let end = patience
        await #expect(throws: (any Error).self) {
          try await UnixSocket.offThread {
            try socket.send(large, before: end)
            _ = try PhoneMessage.receiveReply(from: socket, before: end)
          }
        }
        let reply = try await PhoneSocket.ask(
          PhoneRequest(.status), in: folder.url, seconds: Patience.seconds)
        #expect(reply?.text == "served")
      })
  }

  /// A phone of another program on `folder`, while `body` runs: it sends `reply` after any request.
  private func answering(
    with reply: [UInt8], in folder: URL, _ body: () async throws -> Void
  ) async throws {
    let listener = try UnixListener(at: folder.appendingPathComponent(PhoneSocket.name).path)
    let end = patience
    let answering = Task {
      for await connection in listener.connections {
        // The command closes the connection when it has read enough.
        try? await UnixSocket.offThread {
          _ = try connection.receive(atMost: 1 << 20, before: end)
          try connection.send(reply, before: end)
        }
      }
    }
    defer { listener.stop() }
    try await body()
    listener.stop()
    await answering.value
  }

  /// The bytes of a request that names a region of so many letters.
  private func bytes(ofRegion letters: Int) async throws -> Int {
    let folder = try TemporaryFolder()
    let listener = try UnixListener(at: folder.path("socket").path)
    defer { listener.stop() }
    let client = try UnixSocket.connected(to: .file(folder.path("socket").path))
    var connections = listener.connections.makeAsyncIterator()
    let server = try #require(await connections.next())
    try PhoneMessage.send(travel(letters), to: client, before: patience)
    return try server.receive(atMost: 1 << 20, before: patience).count
  }

  private func travel(_ letters: Int) -> PhoneRequest {
    PhoneRequest(.travel(to: String(repeating: "x", count: letters)))
  }

  @Test("A request above the limit is not sent and says so, each time; one at the limit is served")
  func requestTooLong() async throws {
    let folder = try TemporaryFolder()
    let most = PhoneMessageLimit.requestBytesMax - (try await bytes(ofRegion: 0))
    let served = Mutex(0)
    try await serving(
      in: folder.url,
      { _ in
        served.withLock { $0 += 1 }
        return PhoneReply(.done, "served")
      },
      {
        for count in 1...2 {
          let error = await #expect(throws: PhoneSocketError.self) {
            try await PhoneSocket.ask(travel(most + 1), in: folder.url, seconds: Patience.seconds)
          }
          #expect(error == .requestTooLong)
          #expect(error?.rawValue == "The request is too large: send it in parts.")
          let reply = try await PhoneSocket.ask(
            travel(most), in: folder.url, seconds: Patience.seconds)
          #expect(reply?.text == "served" && served.withLock(\.self) == count)
        }
      })
  }

  @Test(
    "A reply of another form is an error that names the version of the program, each time",
    arguments: [
      ("busy\n", 1), ("{}\n", 1), ("[1]\n", 1), (#"{"version":1}"# + "\n", 1),
      (#"{"version":1,"reply":{"status":9,"text":"?"}}"# + "\n", 1),
      (" ", PhoneMessageLimit.replyBytesMax + 200_000),
    ])
  func unreadable(_ text: String, count: Int) async throws {
    let folder = try TemporaryFolder()
    // An argument is printed in the events of the run, so it must not be the reply itself.
    let reply = String(repeating: text, count: count)
    try await answering(with: Array(reply.utf8), in: folder.url) {
      for _ in 1...2 {
        let error = await #expect(throws: PhoneSocketError.self) {
          try await PhoneSocket.ask(
            PhoneRequest(.status), in: folder.url, seconds: Patience.seconds)
        }
        #expect(error == .unreadable)
        #expect(
          error?.rawValue
            == "The running phone is of another version than this command: restart it.")
      }
    }
  }

  @Test("A reply that is cut is a closed connection, not another version")
  func cutReply() async throws {
    let folder = try TemporaryFolder()
    try await answering(with: Array(#"{"version":1,"#.utf8), in: folder.url) {
      await #expect(throws: UnixSocketError.closed) {
        try await PhoneSocket.ask(PhoneRequest(.status), in: folder.url, seconds: Patience.seconds)
      }
    }
  }

  @Test("Requests are served while another one takes long")
  func concurrent() async throws {
    let folder = try TemporaryFolder()
    let (waiting, arrived) = AsyncStream.makeStream(of: Void.self)
    try await serving(
      in: folder.url,
      { request in
        if request.operation == .check {
          arrived.yield()
          try? await Task.sleep(for: .seconds(Patience.seconds))
        }
        return PhoneReply(.done, "")
      },
      {
        let slow = Task {
          try await PhoneSocket.ask(PhoneRequest(.check), in: folder.url, seconds: Patience.seconds)
        }
        for await _ in waiting { break }
        let reply = try await PhoneSocket.ask(
          PhoneRequest(.status), in: folder.url, seconds: Patience.seconds)
        #expect(reply?.status == .done)
        slow.cancel()
      })
  }
}
