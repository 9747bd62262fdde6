// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import TestSupport
import Testing

@testable import ExposureNotification

/// Exports that are divided into several files.
@Suite struct ExportBatchesTests {
  private let authority: Authority
  private let users: [BeaconSender]

  init() throws {
    authority = try Authority()
    users = try (1...3).map { try BeaconSender($0) }
  }

  private func matchedKeys(in files: [URL]) throws -> Int {
    try Detection(
      configuration: ENExposureConfiguration(), keyFiles: files,
      verificationKeys: try authority.verificationKeys,
      sightings: users.flatMap { $0.stay(scans: 1) },
      now: BeaconSender.midnight.date.addingTimeInterval(86_400), apiVersion: 1, secret: .ofTests,
      progress: Progress()
    ).run().matchedKeyCount
  }

  private func batch(_ number: Int32, of size: Int32) throws -> URL {
    try authority.publishBatch(number, of: size, [users[Int(number) - 1].key])
  }

  @Test("Batch 1 of 2 alone is incomplete, and so is batch 2")
  func incomplete() throws {
    for number in Int32(1)...2 {
      let file = try batch(number, of: 2)
      let error = #expect(throws: ENError.self) { try matchedKeys(in: [file]) }
      #expect(error?.code == .badFormat)
      #expect(error?.localizedDescription.contains("only 1 of 2 batches") == true)
    }
  }

  @Test("All batches together count, in any order")
  func complete() throws {
    let files = try [2, 1].map { try batch($0, of: 2) }
    #expect(try matchedKeys(in: files) == 2)
    #expect(try matchedKeys(in: files + [try authority.publish([users[2].key])]) == 3)
  }

  @Test("A batch that is passed twice, or belongs to another export, does not complete one")
  func otherExport() throws {
    let first = try batch(1, of: 2)
    let copy = first.deletingLastPathComponent().appendingPathComponent("copy.bin")
    for name in ["bin", "sig"] {
      try FileManager.default.copyItem(
        at: first.deletingPathExtension().appendingPathExtension(name),
        to: copy.deletingPathExtension().appendingPathExtension(name))
    }
    let other = try [2, 3].map { try batch($0, of: 3) }
    for files in [[first, copy], [first] + other] {
      let error = #expect(throws: ENError.self) { try matchedKeys(in: files) }
      #expect(error?.localizedDescription.contains("incomplete") == true)
    }
  }
}
