// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServedSystem
import TestSupport
import Testing

/// Attacks on a running `firebreak serve` from this machine.
@Suite("A server that is flooded", .needs(.process))
struct FloodedServerTests {
  @Test("With 1,024 descriptors and 1,000 idle connections, downloads and uploads still work")
  func descriptors() async throws {
    FileDescriptors.raiseLimit()
    let authority = try await ServedAuthority(
      ["keys/settings.json": #"{"deviceVerificationPlatforms":[]}"#], descriptorsMax: 1_024)
    let token = try await authority.token()
    let port = try Self.port(authority.keys)
    let idle = Sockets()
    for number in 0..<1_000 {
      idle.add(try LocalSocket.connected(to: port, from: "127.0.0.\(number % 4 + 2)"))
    }
    #expect(try await authority.servers.get(authority.keys, "/index.txt").status == 200)
    #expect(try await authority.upload(token: token).status == 200)
    #expect(try await authority.run("key-server", "export", "--now").status == 0)
    #expect(try await authority.servers.get(authority.keys, "/index.txt").status == 200)
    withExtendedLifetime(idle) {}
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Clients that pipeline requests and never read use little memory of the server")
  func pipelined() async throws {
    FileDescriptors.raiseLimit()
    let authority = try await ServedAuthority()
    let port = try Self.port(authority.keys)
    #expect(try await authority.servers.get(authority.keys, "/openapi.json").status == 200)
    let before = try authority.servers.memory()
    let clients = Sockets()
    let request = "GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
    let requests = Data(String(repeating: request, count: Self.pipelinedRequests).utf8)
    for _ in 0..<QuietLimit.connectionsPerAddressMax - 1 {
      let client = try LocalSocket.connected(to: port, receiveBytes: 4_096)
      clients.add(client)
      _ = requests.withUnsafeBytes {
        send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      }
    }
    // The server is busy with these requests until it answers another client. While it is, it may also answer 503.
    for _ in 0..<20 {
      var statuses: Set<String> = []
      try await Patience.until {
        let run = try await Shell.run(
          "curl -s -o /dev/null -w '%{http_code}' --interface 127.0.0.9 '\(authority.keys)/index.txt'"
        )
        statuses.insert(run.output)
        return run.output != "503"
      }
      #expect(statuses.subtracting(["503"]) == ["200"])
    }
    let grown = try authority.servers.memory("VmHWM") - before
    #expect(grown < Self.memoryMax >> 10, "grew by \(grown) KiB")
    withExtendedLifetime(clients) {}
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Clients that do not read a large key file pin little memory of the server")
  func slowReaders() async throws {
    FileDescriptors.raiseLimit()
    let name = "1600000000-1600014400-00001.zip"
    let obsolete = "1500000000-1500014400-00001.zip"
    let authority = try await ServedAuthority(
      ["exports/\(obsolete)": "", "keys/settings.json": #"{"exportPeriodSeconds": 86400}"#],
      folders: ["exports"])
    let exports = authority.folder.path("data/exports")
    let file = Data(repeating: 1, count: Self.fileBytes)
    // At its start the server exports, which removes unknown files. Once the obsolete file is gone, none is removed.
    try await Patience.until {
      !FileManager.default.fileExists(atPath: exports.appendingPathComponent(obsolete).path)
    }
    try await Patience.until {
      try file.write(to: exports.appendingPathComponent(name))
      try Data(name.utf8).write(to: exports.appendingPathComponent("index.txt"))
      return try await authority.servers.get(authority.keys, "/\(name)").body == file
    }
    let before = try authority.servers.memory()
    let clients = Sockets()
    let request = Data("GET /\(name) HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    for _ in 0..<Self.slowReaders {
      let client = try LocalSocket.connected(
        to: try Self.port(authority.keys), receiveBytes: 4_096)
      clients.add(client)
      _ = request.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }
    // The server may be too busy with the other requests at first.
    var (status, body) = (503, Data())
    try await Patience.until {
      let response = try await authority.servers.get(authority.keys, "/\(name)")
      (status, body) = (response.status, response.body)
      return status != 503
    }
    #expect(status == 200 && body == file)
    let grown = try authority.servers.memory("VmHWM") - before
    #expect(grown < Self.slowReaders * Self.readerBytesMax >> 10, "grew by \(grown) KiB")
    withExtendedLifetime(clients) {}
    #expect(try await authority.servers.stop() == 0)
  }

  private static let fileBytes = 8_300_000
  private static let slowReaders = 100
  /// The bytes that one of them may pin: some chunks of the file.
  private static let readerBytesMax = 8 * QuietLimit.fileChunkBytes

  /// 200 requests of 40 bytes: all clients together send 2 MB.
  private static let pipelinedRequests = 200
  /// The bytes that the memory may grow by: what may be unread, and as much again for requests.
  private static let memoryMax = 2 * QuietLimit.unreadBytesMax

  private static func port(_ address: String) throws -> Int {
    try #require(URL(string: address)?.port)
  }
}

/// Sockets that are closed with the last reference to this object.
final class Sockets {
  private var all: [Int32] = []

  func add(_ socket: Int32) { all.append(socket) }

  deinit { for socket in all { close(socket) } }
}
