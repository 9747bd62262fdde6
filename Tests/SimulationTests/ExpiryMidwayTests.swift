import ExposureApp
import Foundation
import KeyServer
import Logging
import Simulation
import TestSupport
import Testing

@testable import Town

/// The system takes its time back while the real framework compares a real file.
@Suite struct ExpiryMidwayTests {
  private let folder: TemporaryFolder
  private let town = SimulatedTown(
    start: StoryClock.day(1, 7), seed: 7,
    logger: Logger(label: "expiry") { _ in SwiftLogNoOpLogHandler() })

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Big enough that comparing takes many times longer than noticing that it has begun.
  private static let manyKeys = 6_000

  /// Near and diagnosed have sat together, and diagnosed's key is published.
  private func published() async throws -> Cast {
    let cast = try await Cast(town: town, folder: folder.url, minimumKeys: Self.manyKeys)
    for phone in cast.phones {
      await phone.app.start()
      #expect(await phone.app.enable() == .enabled)
      #expect(await phone.app.backgroundCheck(SimulatedRun()) == .checked(.none))
    }
    await town.pass(until: StoryClock.day(1, 17), phones: cast.phones)
    town.air.place("near", "diagnosed", metres: 1)
    await town.pass(until: StoryClock.day(1, 17, 30), phones: cast.phones)
    town.air.part("near", "diagnosed")
    await town.pass(until: StoryClock.day(2, 9), phones: cast.phones)
    let code = try await cast.authority.official(network: cast.network).issueCode()
    let upload = await cast.diagnosed.app.upload(pin: code, isInteroperabilityEnabled: false)
    #expect(upload.result == .success)
    await town.pass(until: StoryClock.day(2, 12), phones: cast.phones)
    try await cast.authority.keyServer.exportDue()
    return cast
  }

  /// The names and sizes of the key files on a phone.
  private func keyFiles(on phone: SimulatedPhone) throws -> [String: Int] {
    let all = try FileManager.default.subpathsOfDirectory(atPath: phone.folder.path)
    return try Dictionary(
      uniqueKeysWithValues: all.filter { $0.hasSuffix(".zip") }.map { name in
        let path = phone.folder.appendingPathComponent(name).path
        return (name, try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0)
      })
  }

  @Test("Interrupted midway, a check leaves cursor and file intact, and the next one tells near")
  func expiryMidway() async throws {
    let cast = try await published()
    let near = cast.near
    let cursor = await near.app.cursor
    let counted = near.folder.appendingPathComponent("framework/detections")
    try? FileManager.default.removeItem(at: counted)

    let run = SimulatedRun()
    async let outcome = near.app.backgroundCheck(run)
    // The framework counts a detection on disk at the moment it begins.
    while !FileManager.default.fileExists(atPath: counted.path) {
      try await Task.sleep(for: .milliseconds(1))
    }
    run.expire()

    #expect(await outcome == .failed(.timeIsUp))
    #expect(run.success == false)
    #expect(await near.app.cursor == cursor)
    #expect(await near.app.riskLevel == .none)
    #expect(near.notices.exposureNotices.isEmpty)
    let kept = try keyFiles(on: near)
    #expect(kept.count == 1)
    #expect(near.alarm.hasRequest)

    #expect(await near.app.backgroundCheck(SimulatedRun()) == .checked(.high))
    #expect(near.notices.exposureNotices.count == 1)
    #expect(try keyFiles(on: near).isEmpty)
    #expect(await near.app.cursor != cursor)
    await cast.leave()
  }
}
