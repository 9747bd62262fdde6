// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import KeyServer

/// Run by `make prove`: thousands of samples take minutes.
@Suite("Proof: times of uploads", .enabled(if: TimingProof.samples != nil), .serialized)
struct ProvenUploadTimesTests {
  private enum Kind: Hashable {
    case real, decoy, refused
  }

  @Test("Uploads, decoys and refused uploads cannot be told apart by their times")
  func uploads() async throws {
    let samples = try #require(TimingProof.samples)
    try await RunningKeyServer.run({ $0.uploadAttempts = 1_000_000 }) { server in
      var requests: [(kind: Kind, bytes: Data)] = []
      for number in 0..<samples {
        let body = try JSONEncoder().encode(try await server.request(server.keys()))
        requests.append((.real, TimingProof.request(KeyServerRoute.upload, body)))
        let made = try JSONEncoder().encode(try await server.request(server.keys(), token: "x"))
        requests.append(
          (.decoy, TimingProof.request(KeyServerRoute.upload, made, headers: ["X-Chaff": "1"])))
        // Cheap failing requests, and those of users whose token is not accepted.
        requests.append(
          (
            .refused,
            TimingProof.request(
              KeyServerRoute.upload, number % 2 == 0 ? Data("{}".utf8) : made)
          ))
      }
      // Refusals and decoys take the times of recorded successes, so one must come first.
      let first = try JSONEncoder().encode(try await server.request(server.keys()))
      _ = try await server.post(first)
      let times = try await TimingProof.times(of: requests, port: server.port)
      let real = try #require(times[.real])
      for kind in [Kind.decoy, .refused] {
        let area = TimingProof.area(real, try #require(times[kind]))
        print("area under the curve, uploads and \(kind): \(area)")
        #expect(area <= TimingProof.areaMax, "\(kind)")
      }
    }
  }
}
