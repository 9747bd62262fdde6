// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureNotification
import Foundation
import TestSupport
import Testing

@testable import PhoneProcess

@Suite("A phone whose consent cannot be read")
struct UnreadableConsentTests {
  private let scene: PhoneScene
  private let file: URL

  init() throws {
    scene = try PhoneScene()
    file = scene.folder.framework.appendingPathComponent("permission")
  }

  private func started() async throws -> Phone {
    let phone = try scene.phone()
    await phone.start()
    return phone
  }

  @Test("Its state is not reported as off, and it goes on when the file can be read again")
  func unreadable() async throws {
    #expect(try await started().facts(.enable).status == .done)
    let aside = file.appendingPathExtension("aside")
    try FileManager.default.moveItem(at: file, to: aside)
    // A folder cannot be read as a file, also by root.
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    let phone = try await started()
    let operations: [PhoneOperation] = [.status, .check, .enable, .disable, .exportMyData]
    for operation in operations {
      let reply = await phone.perform(PhoneRequest(operation))
      #expect(
        reply.status == .failed && (reply.json == nil) == (operation != .status), "\(operation)")
      #expect(reply.text.contains(file.path), "\(reply.text)")
    }
    #expect(try await phone.facts(.status).json["permissionUnreadable"] as? Bool == true)
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: aside, to: file)
    let status = try await phone.facts(.status)
    #expect(status.json["enabled"] as? Bool == true)
    #expect(status.json["permissionUnreadable"] as? Bool == false)
  }

  @Test(
    "Readers of changes learn that it can be read again, each time, and no notice says that it was withdrawn"
  )
  func changes() async throws {
    #expect(try await started().facts(.enable).status == .done)
    let aside = file.appendingPathExtension("aside")
    for _ in 1...2 {
      try FileManager.default.moveItem(at: file, to: aside)
      try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
      let phone = try await started()
      #expect(try await phone.facts(.status).json["permissionUnreadable"] as? Bool == true)
      _ = await phone.app.check()
      #expect(await phone.app.currentState.notices == [])
      var changes = phone.makeChanges().makeAsyncIterator()
      try FileManager.default.removeItem(at: file)
      try FileManager.default.moveItem(at: aside, to: file)
      #expect(try await phone.facts(.status).json["permissionUnreadable"] as? Bool == false)
      #expect(await changes.next() != nil)
    }
  }

  @Test("A removed file is reported as damage of the settings")
  func removed() async throws {
    let phone = try await started()
    #expect(try await phone.facts(.enable).status == .done)
    #expect(await phone.device.beat() > scene.clock.now)
    try FileManager.default.removeItem(at: file)
    for _ in 1...2 {
      let status = try await started().facts(.status)
      #expect(status.json["enabled"] as? Bool == false)
      #expect(status.json["damaged"] as? [String] == ["settings"])
    }
  }
}
