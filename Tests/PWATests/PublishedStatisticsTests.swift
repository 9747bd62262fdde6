// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import Logging
import PWA
import TestSupport
import Testing
import TextEncodings
import World

@testable import PhoneProcess

@Suite("The messages about published statistics")
struct PublishedStatisticsTests {
  /// A server with one district.
  private struct Server: Network {
    let connection = NetworkConnection.wifi

    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
      let body =
        request.url.lastPathComponent == "timestamps.json"
        ? #"{"nextUpdate":0,"dashboardUpdated":1,"detailsUpdated":1,"districtsUpdated":1}"#
        : #"{"updated":1,"voivodeships":[{"id":1,"districts":[{"id":218,"name":"Kraków"}]}]}"#
      return NetworkResponse(status: 200, body: Data(body.utf8))
    }

    func download(_ request: NetworkRequest, to file: URL) async throws -> NetworkResponse {
      throw NetworkFailure.unreachable
    }
  }

  private let temporary: TemporaryFolder
  private let folder: PhoneFolder
  private let source: PublishedStatistics

  init() throws {
    temporary = try TemporaryFolder()
    folder = try PhoneFolder(creating: temporary.path("phone").path)
    let file = SealingKeyFile(at: temporary.path("key").path)
    try file.create(for: folder, randomness: SystemRandomness())
    source = PublishedStatistics(
      Statistics(
        of: try #require(URL(string: "http://numbers.test")), network: Server(), in: folder,
        key: try file.read(for: folder), clock: ManualClock(Date(unixSecond: 1_600_000_000)),
        randomness: SystemRandomness(), logger: Logger(label: "test")))
  }

  private static func follow(_ district: Int, on site: RunningWebsite) async throws -> JSONValue {
    try await site.answer(72, ["type": 1, "districtId": .integer(district)])
  }

  @Test("A district that cannot be stored is not called unknown, and can be followed later")
  func unstored() async throws {
    let folder = folder
    try await RunningWebsite.with(statistics: source) { (site) async throws in
      // A folder in the place of the file, which cannot be replaced.
      let place = folder.statistics.appendingPathComponent("occupied")
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
      #expect(try await Self.follow(218, on: site)["error"]?["code"] == "failed")
      let unknown = try await Self.follow(1, on: site)["error"]
      #expect(unknown?["code"] == "badRequest")
      #expect(unknown?["message"] == "There is no district 1.")
      try FileManager.default.removeItem(at: folder.statistics)
      let followed = try await Self.follow(218, on: site)["districts"]?.elements
      #expect(followed?.compactMap { $0["id"]?.integer } == [218])
    }
  }
}
