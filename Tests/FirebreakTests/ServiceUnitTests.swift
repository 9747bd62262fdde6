// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing
import World

@Suite("The servers as a unit of systemd", .needs(.process))
struct ServiceUnitTests {
  @Test("systemd is told when the servers are ready, live, reload and stop")
  func notified() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("notify").path
    let receiver = try DatagramReceiver(path: path)
    let start = SystemClock.monotonicMicroseconds
    let servers = try await ServedFirebreak(
      folder: folder, environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"])
    defer { withExtendedLifetime((servers, folder)) {} }
    #expect(try await servers.addresses().count == 3)
    var messages: [String] = []
    func received(_ text: String, _ count: Int) async throws {
      try await Patience.until {
        messages += receiver.all()
        return messages.count { $0.hasPrefix(text) } >= count
      }
    }
    try await received("READY=1", 1)
    try await received("WATCHDOG=1", 3)
    servers.send(SIGHUP)
    try await received("RELOADING=1", 1)
    try await received("READY=1", 2)
    let now = SystemClock.monotonicMicroseconds
    let reloading = try #require(messages.first { $0.hasPrefix("RELOADING=1") })
    let time = try #require(reloading.firstMatch(of: #/\nMONOTONIC_USEC=([0-9]+)\n/#)?.output.1)
    #expect((start...now).contains(try #require(Int64(time))))
    #expect(try await servers.stop() == 0)
    messages += receiver.all()
    #expect(messages.last { !$0.hasPrefix("WATCHDOG") }?.hasPrefix("STOPPING=1") == true)
    let order = messages.map { $0.prefix { $0 != "=" } }.filter { $0 != "WATCHDOG" }
    #expect(order == ["READY", "RELOADING", "READY", "STOPPING"])
  }

  @Test("The unit has no error, and its exposure is below 2.0")
  func unit() async throws {
    let folder = SharedData.projectRoot.appendingPathComponent("Deployment/systemd").path
    let verify = try await Shell.run("cd '\(folder)' && systemd-analyze verify ./firebreak.service")
    // The program and its manual page are not installed on this machine.
    let lines = verify.errors.split(separator: "\n").filter {
      !$0.contains("/usr/bin/firebreak is not executable") && !$0.contains("man firebreak(1)")
    }
    #expect(lines.isEmpty, "\(lines)")
    let security = try await Shell.run(
      "cd '\(folder)' && systemd-analyze security --offline=true ./firebreak.service")
    let level = security.output.firstMatch(of: #/exposure level for firebreak.service: ([\d.]+)/#)
      .flatMap { Double($0.output.1) }
    let exposure = try #require(level, "\(security.output)\(security.errors)")
    #expect(exposure < 2.0)
  }
}
