// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore
import Testing
import WebPages

@Suite("Errors of page servers") struct PageServerErrorTests {
  @Test(
    "A server that cannot listen names its port or its address",
    arguments: [
      (EADDRINUSE, PageServerError.port(80)), (EACCES, .port(80)),
      (EADDRNOTAVAIL, .address("192.0.2.1")),
    ])
  func listening(code: Int32, expected: PageServerError) async {
    await #expect(throws: expected) {
      try await PageServerError.run(at: "192.0.2.1", port: 80) {
        throw IOError(errnoCode: code, reason: "bind")
      }
    }
  }

  @Test("Another error of the server is thrown as it is")
  func other() async {
    await #expect(throws: CancellationError.self) {
      try await PageServerError.run(at: "127.0.0.1", port: 80) { throw CancellationError() }
    }
  }
}
