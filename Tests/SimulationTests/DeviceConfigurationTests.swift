// SPDX-License-Identifier: Apache-2.0
import DiagnosisKeyFile
import ExposureApp
import Foundation
import KeyServerAPI
import Simulation
import TestSupport
import Testing
import World

@Suite("Device configuration with real servers and phones")
struct DeviceConfigurationTests {
  private typealias Scene = DeviceConfigurationScene

  @Test(
    "Signing keys rotate: a phone that checks daily fails no check, and one that was off past the overlap recovers"
  )
  func rotation() async throws {
    try await Scene.run { scene in
      let (steady, sleeper) = (try await scene.phone("steady"), try await scene.phone("sleeper"))
      for day in 1...19 {
        let diagnosed = try await scene.phone("diagnosed \(day)")
        scene.world.clock.advance(by: Scene.day - 2 * Scene.hour)
        try await scene.publish(diagnosed)
        if day == 2 { try scene.authority.signing.rotate() }
        #expect(await steady.app.check() == .checked(.none), "day \(day)")
      }
      // The first key ended after a day's lead and 14 days' overlap.
      let keys = try scene.authority.signing.verificationKeys()
      #expect(keys.map(\.keyVersion) == ["v2"])
      #expect(await steady.app.checks.count >= 13)
      #expect(await sleeper.app.check() == .checked(.none))
      #expect(await sleeper.app.cursor == steady.app.cursor)
      #expect(await sleeper.app.deviceConfiguration?.version == 2)
    }
  }

  @Test("A new key signs no file before its start, and the document lists it at once")
  func lead() async throws {
    try await Scene.run { scene in
      let phone = try await scene.phone("phone")
      try scene.authority.signing.rotate()
      #expect(await phone.app.check() == .checked(.none))
      #expect(await phone.app.deviceConfiguration?.keys.map(\.keyVersion) == ["v1", "v2"])
      #expect(try scene.authority.signing.verificationKeys().map(\.keyVersion) == ["v1"])
      scene.world.clock.advance(by: Double(DeviceConfigurationLimit.leadSeconds))
      #expect(try scene.authority.signing.verificationKeys().map(\.keyVersion) == ["v1", "v2"])
    }
  }

  @Test("A pause stops checks and uploads, and nothing is lost when it ends")
  func pause() async throws {
    try await Scene.run { scene in
      let (near, diagnosed) = (try await scene.phone("near"), try await scene.phone("diagnosed"))
      let late = try await scene.phone("late")
      await scene.meet(near, diagnosed)
      await scene.meet(near, late)
      scene.world.clock.advance(by: Scene.day - 3 * Scene.hour)
      try await scene.publish(diagnosed)
      let cursor = await near.app.cursor
      try scene.authority.signing.publish { $0.pause = .init(until: nil) }
      for _ in 0..<3 {
        #expect(await near.app.check() == .paused)
        scene.world.clock.advance(by: 4 * Scene.hour)
      }
      #expect(await late.app.check() == .paused)
      #expect(try await scene.upload(late).reason == .paused)
      #expect(await near.app.cursor == cursor)
      #expect(near.notices.exposureNotices.isEmpty)
      try scene.authority.signing.publish { $0.pause = nil }
      #expect(await near.app.check() == .checked(.high))
      #expect(await near.app.exposures.count == 1)
      try await scene.publish(late)
      #expect(await near.app.check() == .checked(.high))
      #expect(await near.app.checks.map(\.matchedKeyCount) == [1, 1])
    }
  }

  @Test("A change that makes the document invalid is refused, and phones still get the earlier one")
  func invalid() async throws {
    try await Scene.run { scene in
      let phone = try await scene.phone("phone")
      let before = scene.authority.signing.document
      #expect(throws: DeviceConfigurationError.self) {
        try scene.authority.signing.publish { $0.keys = [] }
      }
      #expect(scene.authority.signing.document == before)
      #expect(await phone.app.check() == .checked(.none))
    }
  }

  @Test("A pause until a time ends by itself, although the phone cannot reach the server")
  func timedPause() async throws {
    try await Scene.run { scene in
      let phone = try await scene.phone("phone")
      let end = scene.world.clock.now.addingTimeInterval(Scene.hour)
      try scene.authority.signing.publish { $0.pause = .init(until: end.unixSecond) }
      #expect(await phone.app.check() == .paused)
      scene.world.clock.advance(by: Scene.hour)
      #expect(await phone.app.pause == nil)
      #expect(await phone.app.check() == .checked(.none))
    }
  }

  @Test("A withdrawn file undoes the exposure of a notice, and other phones never read it")
  func withdrawn() async throws {
    try await Scene.run { scene in
      let (near, diagnosed) = (try await scene.phone("near"), try await scene.phone("diagnosed"))
      let late = try await scene.phone("late")
      await scene.meet(near, diagnosed)
      await scene.meet(late, diagnosed)
      scene.world.clock.advance(by: Scene.day - 3 * Scene.hour)
      try await scene.publish(diagnosed)
      #expect(await near.app.check() == .checked(.high))
      #expect(near.notices.exposureNotices.count == 1)
      let file = try await scene.newestFile()
      try scene.authority.signing.publish { $0.withdrawn.append(file) }
      #expect(await near.app.check() == .checked(.none))
      #expect(await near.app.exposures.isEmpty)
      #expect(!near.notices.isVisible(.risk))
      #expect(await late.app.check() == .checked(.none))
      #expect(await late.app.cursor == near.app.cursor)
      #expect(late.notices.exposureNotices.isEmpty)
    }
  }
}
