// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import UnixSockets

@Suite("Datagrams over Unix domain sockets")
struct UnixDatagramTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("socket").path
  }

  @Test("Each message arrives as a whole, in order")
  func messages() throws {
    let receiver = try DatagramReceiver(path: path)
    try UnixDatagram.send("READY=1\nSTATUS=a".utf8, to: .file(path))
    try UnixDatagram.send(Array(repeating: UInt8(ascii: "x"), count: 20_000), to: .file(path))
    #expect(receiver.all().map(\.count) == [16, 20_000])
  }

  @Test("Without a receiver, or with one that is gone, sending fails at once")
  func nobody() throws {
    #expect(throws: UnixSocketError.self) {
      try UnixDatagram.send("text".utf8, to: .file(path))
    }
    do { _ = try DatagramReceiver(path: path) }
    #expect(throws: UnixSocketError.self) {
      try UnixDatagram.send("text".utf8, to: .file(path))
    }
  }
}
