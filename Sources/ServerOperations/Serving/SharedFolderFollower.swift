// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServer
import KeyServerAPI
import Logging
import QuietHTTP
import ServiceLifecycle
import Settings
import World

/// Lets the folders of running servers follow their databases, and the key server the remote configuration. Signs the
/// device configuration again before it expires.
package struct SharedFolderFollower: Service {
  private let folders: SharedFolders
  private let setup: ServerSetup
  private let keys: KeyServer?
  private let logger: Logger

  /// - Parameters:
  ///   - folders: The folders of the process.
  ///   - setup: The setup of the servers, with the settings of their start.
  ///   - keys: The key server of the process; nil for none.
  ///   - logger: Gets the failure to use a remote configuration.
  package init(_ folders: SharedFolders, of setup: ServerSetup, keys: KeyServer?, logger: Logger) {
    self.folders = folders
    self.setup = setup
    self.keys = keys
    self.logger = logger
  }

  /// Compares the folders with their databases until a graceful shutdown or cancellation.
  package func run() async throws {
    await cancelWhenGracefulShutdown { await follow() }
  }

  private func follow() async {
    let clock = SystemClock()
    var fault: String?
    var renewed = Date.distantPast
    repeat {
      await folders.synchronizeAll()
      await renewDeviceConfiguration(after: &renewed)
      let before = fault
      fault = await useRemoteConfiguration()
      if let fault, fault != before {
        logger.error(
          "the remote configuration of another process is not in use",
          metadata: ["cause": "\(fault)"], source: "keys")
      }
    } while await clock.sleepUnlessCancelled(for: SharedStateLimit.pollSeconds)
  }

  /// - Parameter last: The time of the last attempt.
  private func renewDeviceConfiguration(after last: inout Date) async {
    let now = setup.clock.now
    let pause = ServedDeviceConfiguration.attemptSeconds
    guard keys != nil, abs(now.timeIntervalSince(last)) >= pause else { return }
    do {
      guard try setup.deviceConfiguration.isRenewalDue() else { return }
      last = now
      try await setup.renewDeviceConfiguration()
    } catch is CancellationError {
      return
    } catch {
      last = now
      setup.warn("The device configuration was not signed again: \(error)")
    }
  }

  /// Lets the key server serve the remote configuration of the folder, if it is newer.
  ///
  /// - Returns: The cause if it cannot be used.
  private func useRemoteConfiguration() async -> String? {
    guard let keys else { return nil }
    do {
      let configuration = try setup.keySettings().configuration.remoteConfiguration
      guard configuration.version > keys.remoteConfigurationVersion else { return nil }
      try await keys.replaceRemoteConfiguration(configuration) {}
      return nil
    } catch {
      return ErrorCause.text(error)
    }
  }
}
