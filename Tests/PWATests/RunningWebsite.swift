// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Logging
import PWA
import TestSupport
import Testing
import TextEncodings
import World

/// A website of a scripted phone that serves while a test runs.
struct RunningWebsite: Sendable {
  let port: Int
  let secret: String
  /// The address of the first page of the copy.
  var copyAddress: String?
  let bridge: Bridge

  /// Serves while `body` runs.
  static func with<Value: Sendable>(
    _ phone: ScriptedPhone = ScriptedPhone(),
    statistics: any StatisticsSource = PublishedStatistics(nil),
    pages: URL? = nil, copy: URL? = nil, owner: UInt32 = geteuid(),
    clock: any WallClock = SystemClock(),
    _ body: @Sendable @escaping (RunningWebsite) async throws -> Value
  ) async throws -> Value {
    let bridge = Bridge(to: phone, statistics: statistics, version: "1.2.3", clock: clock)
    let website = try PhoneWebsite(
      bridge, port: 0, pages: pages, copy: copy, owner: owner,
      texts: { $0 == "en" ? Data("{}".utf8) : nil },
      randomness: SystemRandomness(), logger: Logger(label: "test"))
    let (addresses, continuation) = AsyncStream.makeStream(of: (String, String?).self)
    let serving = Task {
      defer { continuation.finish() }
      try await website.run { continuation.yield(($0, $1)) }
    }
    var iterator = addresses.makeAsyncIterator()
    let address = await iterator.next()
    let result: Result<Value, any Error>
    do {
      let url = try #require(address.flatMap { URLComponents(string: $0.0) })
      let site = RunningWebsite(
        port: url.port ?? 0, secret: url.queryItems?.first?.value ?? "",
        copyAddress: address?.1, bridge: bridge)
      result = .success(try await body(site))
    } catch {
      result = .failure(error)
    }
    serving.cancel()
    _ = try? await serving.value
    return try result.get()
  }

  var cookie: [String: String] { ["Cookie": "firebreak-\(port)=\(secret)"] }

  /// Sends one request over a connection of its own.
  func send(
    _ method: String = "GET", _ path: String, _ headers: [String: String] = [:], body: String = ""
  ) async throws -> WebReply {
    var all = ["Host": "127.0.0.1:\(port)", "Connection": "close"].merging(headers) { $1 }
    if method == "POST" { all["Content-Length"] = "\(body.utf8.count)" }
    let lines = all.sorted { $0.key < $1.key }.map { "\($0): \($1)\r\n" }.joined()
    let request = Data("\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body)".utf8)
    let port = port
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try WebReply(sending: request, to: port) })
      }
    }
  }

  /// Sends a message as the script of the bridge does.
  func post(_ body: String, _ headers: [String: String] = [:]) async throws -> WebReply {
    let own = [
      "Content-Type": "application/json", "X-Firebreak-Bridge": "1",
      "Origin": "http://127.0.0.1:\(port)", "Sec-Fetch-Site": "same-origin",
    ]
    return try await send(
      "POST", "/firebreak/messages", own.merging(cookie) { $1 }.merging(headers) { $1 },
      body: body)
  }

  /// The answer to a message: the JSON for `bridgeDataResponse`.
  func ask(_ type: Int, _ data: JSONValue? = nil) async throws -> String {
    let message: JSONValue = [
      "type": .integer(type), "data": data.map { .string($0.text) } ?? .null,
      "requestId": "request-1",
    ]
    let reply = try await post(message.text)
    #expect(reply.status == 200)
    guard case .string(let body) = JSONValue(text: reply.text)?["body"] else {
      Issue.record("\(type): no body in \(reply.text)")
      return ""
    }
    return body
  }

  /// The answer as JSON.
  func answer(_ type: Int, _ data: JSONValue? = nil) async throws -> JSONValue {
    let body = try await ask(type, data)
    return try #require(JSONValue(text: body))
  }
}

/// The response to a request.
struct WebReply: Sendable {
  let status: Int
  /// The values by name in lower case.
  let headers: [String: String]
  let body: Data

  var text: String { String(decoding: body, as: UTF8.self) }

  /// Sends the bytes and reads until the server closes the connection.
  init(sending request: Data, to port: Int) throws {
    let socket = try LocalSocket.connected(to: port)
    defer { close(socket) }
    _ = request.withUnsafeBytes {
      Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    var (received, buffer) = (Data(), [UInt8](repeating: 0, count: 1 << 16))
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      received.append(contentsOf: buffer.prefix(count))
    }
    let end = received.range(of: Data("\r\n\r\n".utf8)) ?? received.endIndex..<received.endIndex
    let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self)
      .components(separatedBy: "\r\n")
    status = Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0
    let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }
      .filter { $0.count == 2 }
    headers = Dictionary(
      fields.map { ($0[0].lowercased(), $0[1].trimmingCharacters(in: .whitespaces)) }
    ) { $1 }
    body = Data(received[end.upperBound...])
  }
}
