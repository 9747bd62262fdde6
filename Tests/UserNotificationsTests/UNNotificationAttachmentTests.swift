// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import UserNotifications

@Suite("Attachments")
final class UNNotificationAttachmentTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "firebreak-attachments-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// A file of `size` zeros, which needs no space.
  private func file(_ name: String, size: UInt64 = 1) throws -> URL {
    let url = folder.appendingPathComponent(name)
    try Data().write(to: url)
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: size)
    try handle.close()
    return url
  }

  @Test(
    "The extension of a file gives its type",
    arguments: [
      ("a.png", "public.png"), ("a.JPG", "public.jpeg"), ("a.gif", "com.compuserve.gif"),
      ("a.wav", "com.microsoft.waveform-audio"), ("a.m4a", "public.mpeg-4-audio"),
      ("a.mp4", "public.mpeg-4"), ("a.avi", "public.avi"),
    ])
  func types(_ name: String, _ type: String) throws {
    let attachment = try UNNotificationAttachment(identifier: "a", url: file(name))
    #expect(attachment.type == type && attachment.identifier == "a")
    #expect(attachment.url.lastPathComponent == name)
  }

  @Test("A hint gives the type of a file without an extension")
  func hint() throws {
    let url = try file("picture")
    #expect(throws: UNError(.attachmentUnrecognizedType)) {
      try UNNotificationAttachment(identifier: "", url: url)
    }
    #expect(throws: UNError(.attachmentUnrecognizedType)) {
      try UNNotificationAttachment(
        identifier: "", url: url,
        options: [UNNotificationAttachmentOptionsTypeHintKey: "public.text"])
    }
    let attachment = try UNNotificationAttachment(
      identifier: "", url: url, options: [UNNotificationAttachmentOptionsTypeHintKey: "public.png"])
    #expect(attachment.type == "public.png" && !attachment.identifier.isEmpty)
  }

  @Test("Only a readable file has an attachment")
  func urls() throws {
    let web = try #require(URL(string: "https://example.org/a.png"))
    for url in [web, folder.appendingPathComponent("none.png"), folder] {
      #expect(throws: UNError(.attachmentInvalidURL)) {
        try UNNotificationAttachment(identifier: "a", url: url)
      }
    }
  }

  @Test(
    "A file may be as large as the limit of its kind",
    arguments: [
      ("a.mp3", UInt64(5_000_000)), ("a.png", 10_000_000), ("a.mpg", 50_000_000),
    ])
  func sizes(_ name: String, _ limit: UInt64) throws {
    for size in [limit - 1, limit] {
      _ = try UNNotificationAttachment(identifier: "a", url: file(name, size: size))
    }
    let tooLarge = try file(name, size: limit + 1)
    #expect(throws: UNError(.attachmentInvalidFileSize)) {
      try UNNotificationAttachment(identifier: "a", url: tooLarge)
    }
  }
}
