// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import QuietHTTP

@Suite("File downloads")
struct FileDownloadTests {
  @Test("A file that is replaced while a client downloads it is never mixed with the new one")
  func replaced() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path("file")
    let size = EchoServer.largeBytes
    try Data(repeating: 1, count: size).write(to: file)
    let echo = EchoServer(file: file)
    try await echo.running { port async throws in
      let client = try await Wire.aside {
        let client = try WireConnection(port: port, receiveBytes: 1 << 16)
        #expect(
          client.send(Data("GET /file HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)))
        return client
      }
      defer { client.close() }
      var received = try await Wire.aside { client.receive(atMost: 1_000) } ?? Data()
      try Data(repeating: 2, count: size).write(to: file, options: .atomic)
      received += try await Wire.aside {
        var rest = Data()
        while let part = client.receive(), !part.isEmpty { rest += part }
        return rest
      }
      let response = try WireResponse(received)
      #expect(response.status == 200 && response.headers["content-length"] == "\(size)")
      // The server closes the connection instead.
      #expect(response.body.count < size)
      #expect(response.body.allSatisfy { $0 == 1 })
    }
  }
}
