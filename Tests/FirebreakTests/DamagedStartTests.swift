// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Starts with damaged databases", .needs(.process))
struct DamagedStartTests {
  @Test(
    "A start with damaged tables fails and names the damage, the second time too",
    arguments: [
      "verification/verification.sqlite", "keys/keys.sqlite", "console/console.sqlite",
    ])
  func damaged(path: String) async throws {
    let authority = try await ServedAuthority()
    #expect(try await authority.servers.stop() == 0)
    let file = authority.folder.path("data/\(path)")
    var bytes = try Data(contentsOf: file)
    // The tables of the first page, not the header of the file.
    bytes.replaceSubrange(100..<512, with: Data(repeating: 0xFF, count: 412))
    try bytes.write(to: file)
    for _ in 0..<2 {
      let run = try await Run(
        "serve", "--port", "0", "--data", authority.folder.path("data").path)
      #expect(run.status == 3, "\(run.status)")
      #expect(run.errors.contains("is damaged"), "\(run.errors)")
    }
  }
}
