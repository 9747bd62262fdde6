// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import Foundation
import SealedStorage
import TestSupport
import Testing

@testable import ExposureNotification

@Suite struct ENErrorTests {
  let folder: TemporaryFolder
  var phone: TestPhone

  init() throws {
    folder = try TemporaryFolder()
    phone = TestPhone(in: folder.url)
  }

  /// The code with which `call` fails; nil if it succeeds.
  private func code(_ call: () async throws -> Void) async -> ENError.Code? {
    do {
      try await call()
      return nil
    } catch {
      return (error as? ENError)?.code
    }
  }

  @Test("badParameter: a table with nine levels, named in the text")
  func badParameter() async throws {
    let manager = try await phone.enabledManager()
    let configuration = ENExposureConfiguration()
    configuration.durationLevelValues = [1, 2, 3, 4, 5, 6, 7, 8, 8]
    let error = await #expect(throws: ENError.self) {
      _ = try await manager.detect([], configuration)
    }
    #expect(error?.code == .badParameter)
    #expect(error?.localizedDescription.hasPrefix("durationLevelValues") == true)
  }

  @Test("notEntitled: activation or test keys without the entitlement")
  func notEntitled() async throws {
    let manager = try await phone.enabledManager()
    #expect(await code { _ = try await manager.testDiagnosisKeys() } == .notEntitled)
    var phone = phone
    phone.entitlements = [.test]
    #expect(await code { try await phone.manager().activate() } == .notEntitled)
  }

  @Test("notAuthorized: the user declines")
  func notAuthorized() async throws {
    let manager = phone.manager()
    try await manager.activate()
    phone.user.decides(false)
    #expect(
      await code { try await manager.setExposureNotificationEnabled(true) } == .notAuthorized)
  }

  @Test("unsupported: a call of the other API version")
  func unsupported() async throws {
    let manager = try await phone.enabledManager()
    let summary = try await manager.detect([])
    #expect(await code { _ = try await manager.windows(of: summary) } == .unsupported)
    #expect(await code { _ = try await manager.detectAgain() } == .unsupported)
  }

  @Test("apiMisuse before activation, invalidated after the end, for every call")
  func life() async throws {
    let manager = phone.manager()
    let calls: [(ENManager) async throws -> Void] = [
      { try await $0.setExposureNotificationEnabled(true) },
      { _ = try await $0.detect([]) },
      { _ = try await $0.detectAgain() },
      { _ = try await $0.info(of: ENExposureDetectionSummary(), explanation: "") },
      { _ = try await $0.windows(of: ENExposureDetectionSummary()) },
      { _ = try await $0.diagnosisKeys() },
      { _ = try await $0.testDiagnosisKeys() },
      { try await $0.preAuthorizeDiagnosisKeys() },
      { try await $0.requestPreAuthorizedDiagnosisKeys() },
      { _ = try await $0.userTraveled() },
    ]
    for call in calls { #expect(await code { try await call(manager) } == .apiMisuse) }
    try await manager.activate()
    manager.diagnosisKeysAvailableHandler = { _ in }
    for call in calls { #expect(await code { try await call(manager) } != .apiMisuse) }
    manager.invalidate()
    for call in calls { #expect(await code { try await call(manager) } == .invalidated) }
  }

  @Test(
    "insufficientStorage: consent on a full disk",
    .needs(.smallDisk))
  func insufficientStorage() async throws {
    let disk = try SmallDisk(bytes: 1 << 18)
    let phone = TestPhone(in: disk.url)
    let manager = phone.manager()
    try await manager.activate()
    _ = disk.fill()
    #expect(
      await code { try await manager.setExposureNotificationEnabled(true) }
        == .insufficientStorage)
  }

  @Test("notEnabled: calls of a device that is turned off")
  func notEnabled() async throws {
    let manager = phone.manager()
    try await manager.activate()
    #expect(await code { _ = try await manager.diagnosisKeys() } == .notEnabled)
    #expect(await code { _ = try await manager.detect([]) } == .notEnabled)
    #expect(await code { try await manager.preAuthorizeDiagnosisKeys() } == .notEnabled)
  }

  /// A mock of an app that returns neither a value nor an error.
  final class EmptyResultManager: ENManager {
    override func getDiagnosisKeys(completionHandler: @escaping ENGetDiagnosisKeysHandler) {
      completionHandler(nil, nil)
    }
  }

  @Test("internal: a result without keys and without an error")
  func `internal`() async {
    #expect(await code { _ = try await EmptyResultManager().diagnosisKeys() } == .internal)
  }

  @Test("rateLimited: a sixteenth detection in a day")
  func rateLimited() async throws {
    let manager = try await phone.enabledManager()
    for _ in 1...15 { _ = try await manager.detect([]) }
    #expect(await code { _ = try await manager.detect([]) } == .rateLimited)
  }

  @Test("restricted: calls fail while restricted; afterwards the user is asked again")
  func restricted() async throws {
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    try await device.setRestrictedInSettings(true)
    #expect(manager.exposureNotificationStatus == .restricted)
    #expect(!phone.radio.isAdvertising)
    #expect(await code { try await manager.setExposureNotificationEnabled(true) } == .restricted)
    #expect(await code { _ = try await manager.detect([]) } == .restricted)
    try await phone.device().setRestrictedInSettings(false)
    let again = try await phone.enabledManager()
    #expect(again.exposureNotificationStatus == .active)
    #expect(phone.user.requests == [.enableExposureNotification, .enableExposureNotification])
  }

  @Test("badFormat: a file that is not a key file")
  func badFormat() async throws {
    let manager = try await phone.enabledManager()
    let file = folder.path("noise.zip")
    try Data(repeating: 7, count: 100).write(to: file)
    #expect(await code { _ = try await manager.detect([file]) } == .badFormat)
    #expect(await code { _ = try await manager.detect([folder.path("no.zip")]) } == .badFormat)
  }

  @Test("badFormat: a signed file with a deviation that only tools accept")
  func deviations() async throws {
    var phone = phone
    let authority = try Authority()
    phone.region = RegionConfiguration(region: "PL", keys: try authority.verificationKeys)
    let manager = try await phone.enabledManager()
    let file = try authority.publish([])
    _ = try await manager.detect([file])
    let zip = try Data(contentsOf: file)
    var (comment, upperCase) = (zip, zip)
    comment[comment.count - 2] = 1
    comment.append(0)
    while let name = upperCase.range(of: Data("export.bin".utf8)) {
      upperCase.replaceSubrange(name, with: Data("EXPORT.BIN".utf8))
    }
    for odd in [comment, upperCase, Data("#!".utf8) + zip] {
      try odd.write(to: file)
      let code = await code { _ = try await manager.detect([file]) }
      #expect(code == .badFormat)
      let facts = try UnverifiedKeyFile(at: file, accepting: .published).inspect()
      #expect(!facts.deviations.isEmpty)
    }
  }

  @Test("badFormat: a correctly signed file of another region")
  func otherRegion() async throws {
    var phone = phone
    let authority = try Authority()
    let file = try authority.publish([])
    let keys = try authority.verificationKeys
    for (region, isTaken) in [("DE", false), ("PL", true), ("PL-14", true), ("US-PL", false)] {
      phone.region = RegionConfiguration(region: region, keys: keys)
      let manager = try await phone.enabledManager()
      let code = await code { _ = try await manager.detect([file]) }
      #expect(code == (isTaken ? nil : .badFormat), "\(region)")
    }
    let rules = try DetectionRules(
      ENExposureConfiguration(), apiVersion: 1,
      region: RegionConfiguration(region: "PL", keys: keys))
    // Codes in lower case name the same region.
    for (name, isTaken) in [
      ("260", true), ("261", false), ("pl", true), ("Pl", true), ("de", false), ("p", false),
      ("PL-14", false),
    ] {
      let file = try authority.publish([], as: "\(name).zip", region: name)
      let detection = Detection(
        rules: rules, keyFiles: [file], earlierKeys: [], received: ReceivedBeacons(),
        now: TestPhone.noon, secret: .ofTests, progress: Progress())
      let result = try? detection.run()
      #expect((result != nil) == isTaken, "\(name)")
    }
  }

  @Test("dataInaccessible: contacts that cannot be read")
  func dataInaccessible() async throws {
    let manager = try await phone.enabledManager()
    try Data().write(to: folder.path("contacts"))
    #expect(await code { _ = try await manager.detect([]) } == .dataInaccessible)
  }

  @Test("travelStatusNotAvailable: a device without a travel history")
  func travel() async throws {
    let manager = try await phone.enabledManager()
    #expect(await code { _ = try await manager.userTraveled() } == .travelStatusNotAvailable)
  }

  @Test("bluetoothOff: turning on without Bluetooth takes effect when Bluetooth is back")
  func bluetoothOff() async throws {
    let device = phone.device()
    let manager = phone.manager(of: device)
    try await manager.activate()
    phone.radio.setPoweredOn(false)
    let error = await #expect(throws: ENError.self) {
      try await manager.setExposureNotificationEnabled(true)
    }
    #expect(error?.code == .bluetoothOff)
    #expect(error?.localizedDescription.hasSuffix("switch Bluetooth on.") == true)
    #expect(manager.exposureNotificationEnabled)
    #expect(manager.exposureNotificationStatus == .bluetoothOff)
    #expect(phone.user.requests == [.enableExposureNotification])
    phone.radio.setPoweredOn(true)
    await device.beat()
    #expect(manager.exposureNotificationStatus == .active && phone.radio.isAdvertising)
  }

  @Test("Without Bluetooth detection, key release and turning off work")
  func othersWithoutBluetooth() async throws {
    let manager = try await phone.enabledManager()
    phone.radio.setPoweredOn(false)
    _ = try await manager.detect([])
    _ = try await manager.diagnosisKeys()
    try await manager.preAuthorizeDiagnosisKeys()
    try await manager.setExposureNotificationEnabled(false)
    #expect(manager.exposureNotificationStatus == .disabled)
  }

  @Test("unknown: a failed prompt is not a refusal, and the user is asked again")
  func unknown() async throws {
    let manager = phone.manager()
    try await manager.activate()
    phone.user.hasScreen(false)
    #expect(await code { try await manager.setExposureNotificationEnabled(true) } == .unknown)
    #expect(phone.log.errors == ["ENManager call failed: NoScreen"])
    phone.user.hasScreen(true)
    try await manager.setExposureNotificationEnabled(true)
    phone.user.hasScreen(false)
    #expect(await code { _ = try await manager.diagnosisKeys() } == .unknown)
    #expect(await code { try await manager.preAuthorizeDiagnosisKeys() } == .unknown)
    let summary = try await manager.detect([])
    #expect(await code { _ = try await manager.info(of: summary, explanation: "") } == .unknown)
  }

  @Test(
    "insufficientMemory: one sighting above the limit over all days",
    arguments: [(4, ENError.Code?.none), (5, nil), (6, .insufficientMemory)])
  func insufficientMemory(sightings: Int, expected: ENError.Code?) async throws {
    var phone = phone
    phone.sightingsPerDetection = 5
    let device = phone.device()
    let manager = try await phone.enabledManager(of: device)
    for number in 0..<sightings {
      if number == 3 { phone.clock.advance(by: TestPhone.day) }
      await phone.radio.receive([try phone.sighting(number)])
    }
    #expect(await code { _ = try await manager.detect([]) } == expected)
    phone.clock.advance(by: 14 * TestPhone.day)
    await device.beat()
    #expect(await code { _ = try await manager.detect([]) } == nil)
  }

  @Test("A detection that fails for lack of memory or by a disk error is counted")
  func failuresCount() async throws {
    var phone = phone
    phone.sightingsPerDetection = 0
    phone.detectionsPerDay = 2
    let manager = try await phone.enabledManager()
    await phone.radio.receive([try phone.sighting()])
    #expect(await code { _ = try await manager.detect([]) } == .insufficientMemory)
    try FileManager.default.removeItem(at: folder.path("contacts"))
    try Data().write(to: folder.path("contacts"))
    #expect(await code { _ = try await manager.detect([]) } == .dataInaccessible)
    #expect(await code { _ = try await manager.detect([]) } == .rateLimited)
  }

  @Test("insufficientMemory names the limit, which by default covers all stored sightings")
  func memoryLimit() async throws {
    var phone = phone
    phone.sightingsPerDetection = 0
    let manager = try await phone.enabledManager()
    await phone.radio.receive([try phone.sighting()])
    let error = await #expect(throws: ENError.self) { _ = try await manager.detect([]) }
    #expect(error?.localizedDescription.hasPrefix("More than 0 beacons") == true)
    let kept = (Day(of: phone.clock.now).first...Day(of: phone.clock.now).number + 1).count
    #expect(DeviceLimit.sightingsPerDetection == kept * ContactLimit.sightingsPerDay)
  }

  @Test("Only a full disk is insufficientStorage; missing permission is dataInaccessible")
  func storageErrors() {
    let expected: [(SealedStorageError, ENError.Code)] = [
      (.full, .insufficientStorage), (.disk(EACCES), .dataInaccessible),
      (.disk(EROFS), .dataInaccessible), (.disk(EIO), .dataInaccessible),
      (.damaged, .dataInaccessible),
    ]
    for (cause, code) in expected { #expect(ENError(cause).code == code) }
    #expect(ENError(SealedStorageError.disk(EACCES)).localizedDescription.contains("(13)"))
    let files: [(KeyFileError, ENError.Code)] = [
      (.diskFull, .insufficientStorage), (.cannotRead(EACCES), .dataInaccessible),
      (.cannotRead(ENOENT), .badFormat), (.unsigned, .badFormat),
    ]
    for (cause, code) in files { #expect(ENError(cause).code == code) }
  }

  @Test("Every code has a distinct text")
  func sentences() {
    let sentences = Set(ENError.Code.allCases.map { ENError($0).localizedDescription })
    #expect(sentences.count == 17)
    #expect(sentences.allSatisfy { $0.hasSuffix(".") && $0.count > 20 })
  }
}
