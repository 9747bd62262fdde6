// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import ExposureKeys
import Foundation
import KeyServerAPI
import TestSupport
import Testing
import World

@testable import PhoneProcess

@Suite("Damaged transfers of key files", .timeLimit(.minutes(Patience.minutes)))
struct DamagedTransferTests {
  /// The kinds of damage of a response with status 200.
  enum Damage: CaseIterable {
    case empty, page, cut, longer, noZip, unsigned
  }

  /// The content that arrives in place of `file`.
  private func damaged(_ file: Data, by damage: Damage) throws -> Data {
    switch damage {
    case .empty: Data()
    case .page: Data("<html>Sign in</html>".utf8)
    case .cut: file.dropLast(30)
    case .longer: file + Data("x".utf8)
    case .noZip: Data(repeating: 7, count: 400)
    case .unsigned: try unsigned(file)
    }
  }

  /// The zip with its first entry, export.bin, and without export.sig.
  private func unsigned(_ zip: Data) throws -> Data {
    func position(_ kind: [UInt8], last: Bool = true) throws -> Int {
      let signature = Data("PK".utf8) + kind
      return try #require(zip.range(of: signature, options: last ? .backwards : [])).lowerBound
    }
    let second = try position([3, 4])
    let (first, last) = (try position([1, 2], last: false), try position([1, 2]))
    var end = zip[(try position([5, 6]))...]
    func number(_ value: Int, bytes: Int) -> [UInt8] {
      (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    end.replaceSubrange(
      end.startIndex + 8..<end.startIndex + 20,
      with: number(1, bytes: 2) + number(1, bytes: 2) + number(last - first, bytes: 4)
        + number(second, bytes: 4))
    return zip[..<second] + zip[first..<last] + end
  }

  @Test("Each check fetches the file again until it is whole", arguments: Damage.allCases)
  func fetchedAgain(_ damage: Damage) async throws {
    let scene = try PhoneScene()
    let phone = try scene.phone()
    await phone.start()
    #expect(try await phone.facts(.enable).status == .done)
    #expect(try await phone.facts(.check).status == .done)
    scene.clock.advance(by: 3_600)
    let start = try #require(IntervalNumber(Date(unixDay: scene.clock.now.unixDay - 1)))
    let key = try #require(
      TemporaryExposureKey(
        bytes: SystemRandomness().bytes(16), rollingStart: start, rollingPeriod: 144))
    let name = try scene.publishFile(with: key)
    scene.server.publish(KeyFileIndex.render([name]), at: KeyServerRoute.index)
    let whole = try #require(scene.server.content(at: name.text))
    scene.server.publish(try damaged(whole, by: damage), at: name.text)
    for count in 1...2 {
      let check = try await phone.facts(.check)
      #expect(check.json["failure"] as? String == "filesMissing", "\(check.json)")
      #expect(scene.server.requests(for: name.text).count == count)
      scene.clock.advance(by: 60)
    }
    scene.server.publish(whole, at: name.text)
    let check = try await phone.facts(.check)
    #expect(check.status == .done, "\(check.json)")
    #expect(scene.server.requests(for: name.text).count == 3)
  }

  @Test(
    "A file is analysed if its header has the region in lower case or the key's identifier, and no other region",
    arguments: [("pl", true), ("260", true), ("de", false), ("261", false)])
  func region(_ region: String, isTaken: Bool) async throws {
    let scene = try PhoneScene()
    let phone = try scene.phone()
    await phone.start()
    #expect(try await phone.facts(.enable).status == .done)
    #expect(try await phone.facts(.check).status == .done)
    scene.clock.advance(by: 3_600)
    let start = try #require(IntervalNumber(Date(unixDay: scene.clock.now.unixDay - 1)))
    var names: [KeyFileName] = []
    for _ in 1...2 {
      let key = try #require(
        TemporaryExposureKey(
          bytes: SystemRandomness().bytes(16), rollingStart: start, rollingPeriod: 144))
      names.append(try scene.publishFile(with: key, region: region))
      scene.server.publish(
        Data(KeyFileIndex.render(names).utf8), at: KeyServerRoute.index)
      let check = try await phone.facts(.check)
      #expect((check.status == .done) == isTaken, "\(check.json)")
      #expect(check.json["failure"] as? String == (isTaken ? nil : "filesMissing"))
      #expect(await phone.app.totalKeysCount == (isTaken ? names.count : 0))
      scene.clock.advance(by: 14_400)
    }
  }
}
