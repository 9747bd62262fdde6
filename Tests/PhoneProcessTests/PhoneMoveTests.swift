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

  @Test("A copy of pages that a killed phone has left is not moved, and leaves the old folder")
  func pageCopy() async throws {
    let copy = scene.folder.pageCopy
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
    try Data("secret".utf8).write(to: copy.appendingPathComponent("index.html"))
    // A link would stop the move elsewhere.
    try FileManager.default.createSymbolicLink(
      at: copy.appendingPathComponent("link"), withDestinationURL: place.url)
    try move()
    try await requireMoved()
    let moved = try PhoneFolder(existing: new.path).pageCopy
    #expect(!FileManager.default.fileExists(atPath: moved.path))
  }

  @Test("A phone is moved on, and back to the folder that it has left")
  func twice() async throws {
    try move()
    let other = place.path("other")
    let moves = [(new, other), (other, new), (new, other), (other, new)]
    for (from, target) in moves {
      try PhoneMove(of: try PhoneFolder(existing: from.path), to: target.path).run()
      #expect(throws: PhoneSetupError.self) { try PhoneFolder(existing: from.path) }
    }
    try FileManager.default.removeItem(at: other)
    try await requireMoved()
  }

  /// A point at which a move was killed.
  enum Kill: CaseIterable {
    case copying, marked, renamed, done
  }

  /// The folders as a kill at this point leaves them.
  private func prepare(_ kill: Kill) throws {
    let unfinished = place.path(".new.unfinished-move")
    switch kill {
    case .copying, .marked:
      try FileManager.default.createDirectory(at: unfinished, withIntermediateDirectories: false)
      try Data("half".utf8).write(to: unfinished.appendingPathComponent("notices.sealed"))
    case .renamed, .done: try FileManager.default.copyItem(at: scene.folder.url, to: new)
    }
    guard kill != .copying else { return }
    try MovedMark(target: new.path, isDone: kill == .done).leave(in: scene.folder.url)
    if kill == .done { try FileManager.default.removeItem(at: scene.folder.framework) }
  }

  @Test(
    "After a kill the same move finishes, and a move to another folder is refused",
    arguments: Kill.allCases)
  func killed(at kill: Kill) async throws {
    try prepare(kill)
    if kill != .copying {
      let error = #expect(throws: PhoneSetupError.self) { try move(to: place.path("third").path) }
      #expect(error?.description.contains("moved to \(new.path)") == true)
    }
    try move()
    try await requireMoved()
  }

  @Test(
    "If the new disk is gone after the move, nothing is copied from what is left of the old data")
  func missingDisk() throws {
    try prepare(.done)
    try FileManager.default.removeItem(at: new)
    let error = #expect(throws: PhoneSetupError.self) { try move() }
    #expect(error?.description.contains("connect its disk") == true)
    #expect(!FileManager.default.fileExists(atPath: new.path))
  }

  @Test("A link in the folder is named, and the phone stays where it is")
  func link() async throws {
    let old = scene.folder.url
    try FileManager.default.createSymbolicLink(
      at: old.appendingPathComponent("config.json"), withDestinationURL: place.path("config"))
    let error = #expect(throws: PhoneSetupError.self) { try move() }
    #expect(error?.description.contains("config.json") == true)
    #expect(throws: Never.self) { _ = try PhoneFolder(existing: old.path) }
    try FileManager.default.removeItem(at: old.appendingPathComponent("config.json"))
    try move()
    try await requireMoved()
  }

  @Test("A command that waited for the lock finds that the phone was moved")
  func waited() throws {
    let waiting = try PhoneFolder(existing: scene.folder.url.path)
    try move()
    #expect(throws: PhoneSetupError.self) { _ = try waiting.lock() }
  }

  @Test("A used folder, a file, one inside or around the old one, or without a parent is refused")
  func refused() async throws {
    try Data().write(to: place.path("file"))
    try FileManager.default.createDirectory(
      at: place.path("used/more"), withIntermediateDirectories: true)
    let old = scene.folder.url
    try FileManager.default.createSymbolicLink(
      at: place.path("link"), withDestinationURL: place.path("used/more"))
    let none = try PhoneFolder(existing: place.path("used").path)
    #expect(throws: PhoneSetupError.self) { _ = try PhoneMove(of: none, to: new.path) }
    for path in [
      place.path("link").path, "/proc", place.path("file").path, place.path("used").path,
      place.path("none/new").path, old.path,
      old.appendingPathComponent("new").path, old.deletingLastPathComponent().path,
    ] {
      #expect(throws: PhoneSetupError.self, "\(path)") { try move(to: path) }
    }
    #expect(throws: Never.self) { _ = try PhoneFolder(existing: old.path) }
  }

  @Test(
    "On a full disk the phone stays where it is, also after a kill", .needs(.smallDisk),
    arguments: [false, true])
  func full(isMarked: Bool) async throws {
    let disk = try SmallDisk(bytes: 1 << 16)
    _ = disk.fill()
    let target = disk.url.appendingPathComponent("new")
    if isMarked { try MovedMark(target: target.path, isDone: false).leave(in: scene.folder.url) }
    #expect(throws: PhoneSetupError.self) { try move(to: target.path) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: disk.url.path) == ["ballast"])
    let phone = try scene.phone(in: try PhoneFolder(existing: scene.folder.url.path))
    await phone.start()
    #expect(try await phone.facts(.status).json["enabled"] as? Bool == true)
  }
}
