// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import QuietHTTP
import TestSupport
import Testing

@testable import KeyServer

/// Only failed requests count against the budget of an address or network.
@Suite("Fairness between clients")
struct FairnessTests {
  @Test("A hundred uploads from one address at the same time are all accepted")
  func simultaneous() async throws {
    try await RunningKeyServer.run { server in
      var requests: [UploadRequest] = []
      for _ in 0..<100 { requests.append(try await server.request(server.keys(1))) }
      let statuses = try await withThrowingTaskGroup(of: UInt.self) { group in
        for request in requests { group.addTask { try await server.upload(request).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses == [UInt](repeating: 200, count: 100))
    }
  }

  @Test("Invalid requests for statistics do not stop uploads, and the other way round")
  func statistics() async throws {
    try await RunningKeyServer.run({ $0.uploadAttempts = 2 }) { server in
      let statuses = try await invalidStatistics(3, server)
      #expect(statuses == [401, 401, 429])
      #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      let bad = try await server.request(server.keys(1)) { $0.data.verificationPayload = nil }
      #expect(try await server.upload(bad).status == 401)
      #expect(try await server.upload(bad).status == 401)
      #expect(try await server.upload(bad).status == 429)
      server.clock.advance(by: 600)
      _ = try await server.upload(bad)
      _ = try await server.upload(bad)
      #expect(try await invalidStatistics(1, server) == [401])
    }
  }

  @Test("After many made-up tokens from one address, valid uploads from it are all accepted")
  func behindOneAddress() async throws {
    try await RunningKeyServer.run { server in
      let bad = try await server.request(server.keys(1)) { $0.data.verificationPayload = "a.b.c" }
      var refused = 0
      for _ in 0..<90 where try await server.upload(bad).status == 429 { refused += 1 }
      #expect(refused == 30)
      for _ in 0..<20 {
        #expect(try await server.upload(server.request(server.keys(1))).status == 200)
      }
    }
  }

  private func invalidStatistics(_ count: Int, _ server: RunningKeyServer) async throws -> [UInt] {
    var statuses: [UInt] = []
    for _ in 0..<count {
      statuses.append(
        try await server.post(Data("{}".utf8), to: KeyServerRoute.statistics).status)
    }
    return statuses
  }

  @Test(
    "Failed uploads from one IPv6 /48 share four times, from one /56 twice an address's failures")
  func networks() async throws {
    try await RunningKeyServer.run({
      $0.uploadAttempts = 1
      $0.trustedProxies = TrustedProxies(["127.0.0.1"]) ?? .none
    }) { server in
      let bad = try await server.request(server.keys(1)) { $0.data.verificationPayload = nil }
      let expected: [(String, UInt)] = [
        ("2001:db8:1:1::1", 401), ("2001:db8:1:2::1", 401), ("2001:db8:1:3::1", 429),
        ("2001:db8:1:101::1", 401), ("2001:db8:1:201::1", 401), ("2001:db8:1:301::1", 429),
        ("2001:db8:2::1", 401),
      ]
      for (address, status) in expected {
        let response = try await server.upload(bad, headers: [("X-Forwarded-For", address)])
        #expect(response.status == status, "\(address)")
      }
    }
  }
}
