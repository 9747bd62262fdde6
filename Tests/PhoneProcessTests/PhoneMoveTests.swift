// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("Moving a phone to another folder")
struct PhoneMoveTests {
  private let scene: PhoneScene
  private let place: TemporaryFolder
  private var new: URL { place.path("new") }

  init() async throws {
    scene = try PhoneScene()
    place = try TemporaryFolder()
    let phone = try scene.phone()
    await phone.start()
    #expect(try await phone.facts(.enable).status == .done)
  }

  private func move(to path: String? = nil) throws {
    let old = try PhoneFolder(existing: scene.folder.url.path, mayBeMoved: true)
    try PhoneMove(of: old, to: path ?? new.path).run()
  }

  /// The phone works in the new folder, and the old one is refused.
  private func requireMoved() async throws {
    let phone = try scene.phone(in: try PhoneFolder(existing: new.path))
    await phone.start()
    #expect(try await phone.facts(.status).json["enabled"] as? Bool == true)
    for open in [
      { try PhoneFolder(existing: scene.folder.url.path) },
      { try PhoneFolder(creating: scene.folder.url.path) },
    ] {
      let error = #expect(throws: PhoneSetupError.self) { _ = try open() }
      #expect(error?.description.contains("moved to \(new.path)") == true)
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: scene.folder.url.path)
    #expect(left == [MovedMark.fileName])
    let siblings = try FileManager.default.contentsOfDirectory(atPath: place.url.path)
    #expect(siblings == ["new"])
  }

  @Test(
    "The phone goes on in the new folder, the old one stops, and the same move again does nothing")
  func moved() async throws {
    let rights = try FileManager.default.attributesOfItem(atPath: scene.folder.url.path)
    try move()
    try await requireMoved()
    let copied = try FileManager.default.attributesOfItem(atPath: new.path)
    #expect(copied[.posixPermissions] as? Int == rights[.posixPermissions] as? Int)
    try move()
    try await requireMoved()
  }

  @Test("A phone is moved a second time, and back to a folder that is empty again")
  func twice() async throws {
    try move()
    let other = place.path("other")
    try PhoneMove(of: try PhoneFolder(existing: new.path), to: other.path).run()
    try FileManager.default.removeItem(at: new)
    try PhoneMove(of: try PhoneFolder(existing: other.path), to: new.path).run()
    try FileManager.default.removeItem(at: other)
    try await requireMoved()
  }

  /// A point at which a move was killed.
  enum Kill: CaseIterable {
    case copying, marked, renamed
  }

  @Test(
    "After a kill the same move finishes, and a move to another folder is refused",
    arguments: Kill.allCases)
  func killed(at kill: Kill) async throws {
    let unfinished = place.path(".new.unfinished-move")
    try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: false)
    try Data("half".utf8).write(to: unfinished.appendingPathComponent("notices.sealed"))
    if kill == .renamed {
      try FileManager.default.removeItem(at: unfinished)
      try FileManager.default.copyItem(at: scene.folder.url, to: new)
    }
    if kill != .copying {
      try MovedMark(target: new.path).leave(in: scene.folder.url)
      let error = #expect(throws: PhoneSetupError.self) { try move(to: place.path("third").path) }
      #expect(error?.description.contains("moved to \(new.path)") == true)
    }
    try move()
    try await requireMoved()
  }

  @Test("A used folder, a file, one inside or around the old one, or without a parent is refused")
  func refused() async throws {
    try Data().write(to: place.path("file"))
    try FileManager.default.createDirectory(
      at: place.path("used/more"), withIntermediateDirectories: true)
    let old = scene.folder.url
    for path in [
      place.path("file").path, place.path("used").path, place.path("none/new").path, old.path,
      old.appendingPathComponent("new").path, old.deletingLastPathComponent().path,
    ] {
      #expect(throws: PhoneSetupError.self, "\(path)") { try move(to: path) }
    }
    #expect(throws: Never.self) { _ = try PhoneFolder(existing: old.path) }
  }

  @Test("On a full disk the phone stays where it is", .needs(.smallDisk))
  func full() async throws {
    let disk = try SmallDisk(bytes: 1 << 16)
    _ = disk.fill()
    let target = disk.url.appendingPathComponent("new")
    #expect(throws: PhoneSetupError.self) { try move(to: target.path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == ["ballast"])
    let phone = try scene.phone(in: try PhoneFolder(existing: scene.folder.url.path))
    await phone.start()
    #expect(try await phone.facts(.status).json["enabled"] as? Bool == true)
  }
}
