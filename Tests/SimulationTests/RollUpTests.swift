// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import KeyServerAPI
import Simulation
import TestSupport
import Testing
import World

@Suite("Roll-ups with real servers and phones")
struct RollUpTests {
  private typealias Scene = DeviceConfigurationScene

  @Test("A phone that was off for two weeks downloads at most 14 files and finds every match once")
  func off() async throws {
    try await Scene.run(rollUps: true) { scene in
      let downloads = DownloadRecord()
      let sleeper = try await scene.phone("sleeper", countingBy: downloads)
      let steady = try await scene.phone("steady")
      var diagnosed: [SimulatedPhone] = []
      for number in 0..<5 { diagnosed.append(try await scene.phone("diagnosed \(number)")) }
      await meet(diagnosed, beside: [sleeper, steady], in: scene)
      scene.world.clock.advance(by: Scene.hour / 2)
      for day in 0..<13 {
        let others = [try await scene.phone("other \(day)"), try await scene.phone("late \(day)")]
        scene.world.clock.advance(by: 17 * Scene.hour)
        for phone in diagnosed { _ = await phone.app.check() }
        try await scene.publish(day % 3 == 0 ? diagnosed[day / 3] : others[0])
        scene.world.clock.advance(by: 2 * Scene.hour)
        try await scene.publish(others[1])
        scene.world.clock.advance(by: Scene.hour)
        try await checks(steady)
      }
      try await checks(sleeper)
      #expect(downloads.paths.count <= 14 && downloads.paths.contains { $0.contains("rollup") })
      for phone in [sleeper, steady] {
        #expect(await phone.app.checks.map(\.matchedKeyCount).reduce(0, +) == 5, "\(phone.name)")
      }
      let before = downloads.paths.count
      try await checks(sleeper)
      #expect(downloads.paths.count == before)
      #expect(await sleeper.app.cursor == steady.app.cursor)
    }
  }

  /// Lets a phone check; a check that fails ends the test.
  private func checks(_ phone: SimulatedPhone) async throws {
    let outcome = await phone.app.check()
    try #require(outcome.isSuccess, "\(phone.name): \(outcome)")
  }

  /// Half an hour in which each of `phones` is close to all of `others`.
  private func meet(
    _ phones: [SimulatedPhone], beside others: [SimulatedPhone], in scene: Scene
  ) async {
    let pairs = phones.flatMap { phone in others.map { (phone.name, $0.name) } }
    for (one, other) in pairs { scene.world.air.place(one, other, metres: 0.5) }
    await scene.world.run(
      until: scene.world.clock.now.addingTimeInterval(Scene.hour / 2), phones: phones + others)
    for (one, other) in pairs { scene.world.air.separate(one, other) }
  }
}
