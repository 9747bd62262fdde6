// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

@testable import ExposureNotification

/// A phone of API version 2 with the authority that it trusts.
struct TrustingPhone {
  let folder: TemporaryFolder
  let authority: Authority
  let phone: TestPhone

  /// Creates a phone; `change` sets other properties.
  init(_ change: (inout TestPhone) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    authority = try Authority()
    var phone = TestPhone(in: folder.url)
    phone.apiVersion = 2
    phone.region = RegionConfiguration(region: "PL", keys: try authority.verificationKeys)
    change(&phone)
    self.phone = phone
  }
}

/// A suite whose tests use one `TrustingPhone`.
protocol SuiteOfTrustingPhone {
  var scene: TrustingPhone { get }
}

extension SuiteOfTrustingPhone {
  var folder: TemporaryFolder { scene.folder }
  var authority: Authority { scene.authority }
  var phone: TestPhone { scene.phone }
  var configuration: ENExposureConfiguration { DiagnosedUser.configuration() }

  /// A manager of a phone that met `diagnosed` yesterday.
  func afterMeeting(_ diagnosed: DiagnosedUser, _ device: Device? = nil) async throws -> ENManager {
    let manager = try await phone.enabledManager(of: device)
    await diagnosed.meets(phone)
    phone.clock.advance(by: TestPhone.day)
    return manager
  }
}
