// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import DesktopNotifications

/// A message bus of the system's own program, for one test.
enum MessageBus {
  static func withRunning(
    in folder: TemporaryFolder? = nil, _ body: (DBusAddress) async throws -> Void
  ) async throws {
    let folder = try folder ?? TemporaryFolder()
    let configuration = folder.path("bus.conf")
    try Data(
      """
      <busconfig><type>session</type><listen>unix:path=\(folder.path("bus").path)</listen>
      <policy context="default"><allow send_destination="*"/><allow own="*"/>
      <allow eavesdrop="false"/></policy></busconfig>
      """.utf8
    ).write(to: configuration)
    try await ChildProcess.withRunning(
      URL(fileURLWithPath: "/usr/bin/dbus-daemon"),
      ["--config-file=\(configuration.path)", "--nofork", "--print-address"]
    ) { daemon in
      let line = try #require(try await daemon.firstLine())
      try await body(try #require(DBusAddress(line)))
    }
  }
}
