// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Dispatch
import Foundation
import TestSupport
import Testing
import World

@testable import ExposureNotification

@Suite("Simulated region")
struct SimulatedRegionTests {
  private let region: SimulatedRegion

  init() throws {
    region = try SimulatedRegion()
  }

  /// The manager of an app that is turned on.
  private func manager(of device: Device) async throws -> ENManager {
    let manager = ENManager(device: device)
    manager.dispatchQueue = DispatchQueue(label: "test")
    try await manager.activate()
    try await manager.setExposureNotificationEnabled(true)
    return manager
  }

  private func summary(of manager: ENManager, _ files: [URL]) async throws -> ExposureSummary {
    try await withCheckedThrowingContinuation { done in
      manager.detectExposures(configuration: .init(), diagnosisKeyURLs: files) { summary, error in
        done.resume(with: summary.map { .success($0.sums) } ?? .failure(error ?? ENError(.unknown)))
      }
    }
  }

  @Test("A device finds the key of a diagnosed user whom it met, and none without having met")
  func met() async throws {
    let phone = try await Device.simulated(in: region)
    let other = try await Device.simulated(in: region)
    let stranger = try await Device.simulated(in: region, isEnabled: true)
    let (met, alone) = (try await manager(of: phone), try await manager(of: other))
    try await region.meet(phone, stranger, minutes: 30, attenuation: 40)
    await region.pass(days: 2)
    let files = try await region.keyFiles(ofDiagnosed: stranger)
    let found = try await summary(of: met, files)
    #expect(found.matchedKeyCount == 1 && found.daysSinceLastExposure == 2)
    #expect(found.attenuationDurations[0] >= 1_500)
    #expect(try await summary(of: alone, files).matchedKeyCount == 0)
  }

  @Test("A device that is turned off is not received")
  func turnedOff() async throws {
    let phone = try await Device.simulated(in: region)
    let stranger = try await Device.simulated(in: region, isEnabled: true)
    let manager = try await manager(of: phone)
    try await region.setBluetooth(on: false, of: stranger)
    #expect(stranger.status == .bluetoothOff && phone.status == .active)
    try await region.meet(phone, stranger, minutes: 30)
    try await region.setBluetooth(on: true, of: stranger)
    #expect(stranger.status == .active)
    await region.pass(days: 1)
    let files = try await region.keyFiles(ofDiagnosed: stranger)
    #expect(try await summary(of: manager, files).matchedKeyCount == 0)
  }

  @Test("The key file has a key for each day before the day of the diagnosis")
  func keys() async throws {
    let stranger = try await Device.simulated(in: region, isEnabled: true)
    #expect(region.clock.now == SimulatedRegion.noon)
    await region.pass(days: 3, minutes: 5)
    #expect(region.clock.now == SimulatedRegion.noon.addingTimeInterval(3 * 86_400 + 300))
    let files = try await region.keyFiles(ofDiagnosed: stranger)
    #expect(try files.map { try UnverifiedKeyFile(at: $0).inspect().keyCount } == [3])
  }

  @Test("A user who declines keeps exposure notification off")
  func declined() async throws {
    let device = try await Device.simulated(in: region, consent: TestUser(decision: false))
    await #expect(throws: ENError(.notAuthorized)) { _ = try await manager(of: device) }
    #expect(!device.isEnabled && device.authorizationStatus == .notAuthorized)
  }

  @Test("A device of another region and a risk level above 8 are rejected")
  func rejected() async throws {
    let device = try await Device.simulated(in: region, isEnabled: true)
    let foreign = try await Device.simulated(isEnabled: true)
    let code = ENError.Code.badParameter
    func rejects(_ call: () async throws -> Void) async {
      do {
        try await call()
        Issue.record("the call succeeded")
      } catch {
        #expect((error as? ENError)?.code == code)
      }
    }
    await rejects { try await region.meet(device, foreign, minutes: 1) }
    await rejects { try await region.setBluetooth(on: false, of: foreign) }
    await rejects { _ = try await region.keyFiles(ofDiagnosed: foreign) }
    await region.pass(days: 1)
    await rejects {
      _ = try await region.keyFiles(ofDiagnosed: device, transmissionRiskLevel: 9)
    }
  }

  @Test("A second device with the same folder continues the first one")
  func restarted() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("phone")
    let first = try await Device.simulated(in: region, isEnabled: true, folder: path)
    await region.pass(minutes: 1)
    let second = try await Device.simulated(in: region, folder: path)
    #expect(second.isEnabled && second.storageDamage.isEmpty)
    await region.pass(days: 1)
    #expect(try await second.releasableKeys().count == 1)
    withExtendedLifetime(first) {}
  }

  @Test("The temporary folder exists until the last device is gone")
  func removed() async throws {
    var published: (file: URL, device: Device)? = try await Self.publishedFile()
    let file = try #require(published?.file)
    #expect(FileManager.default.fileExists(atPath: file.path))
    published = nil
    try await Patience.until { !FileManager.default.fileExists(atPath: file.path) }
    #expect(!FileManager.default.fileExists(atPath: file.deletingLastPathComponent().path))
  }

  /// A file of a region of which only the device is left.
  private static func publishedFile() async throws -> (file: URL, device: Device) {
    let region = try SimulatedRegion()
    let device = try await Device.simulated(in: region, isEnabled: true)
    await region.pass(days: 1)
    return (try #require(try await region.keyFiles(ofDiagnosed: device).first), device)
  }
}
