// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import TestSupport
import Testing

@testable import ExposureApp

@Suite("The causes of failed checks") struct CheckFailureTests {
  @Test(
    "The status of a response names the cause",
    arguments: [
      (299, CheckFailure.serverBusy), (300, .portal), (302, .portal), (399, .portal),
      (400, .serverBusy), (404, .notFound), (410, .notFound), (413, .tooLarge), (500, .serverBusy),
      (511, .portal),
    ])
  func status(status: Int, cause: CheckFailure) {
    #expect(CheckFailure(status: status) == cause)
  }

  @Test(
    "A failed request names the cause",
    arguments: [
      (NetworkFailure.certificate, CheckFailure.certificate), (.tooLarge, .tooLarge),
      (.certificateOutOfDate, .certificateOutOfDate),
      (.unreachable, .noConnection), (.disk, .diskFailed),
    ])
  func network(failure: NetworkFailure, cause: CheckFailure) async throws {
    let phone = try TestApp()
    phone.network.script("/index.txt", .fails(failure))
    #expect(try await phone.launch().check() == .failed(cause))
  }

  @Test(
    "A page in place of a document is that of a network",
    arguments: ["<html>", "\r\n <!DOCTYPE html>"])
  func page(text: String) async throws {
    let phone = try TestApp()
    phone.network.script(KeyServerRoute.deviceConfiguration, .text(text))
    #expect(try await phone.launch().check() == .failed(.portal))
    #expect(!NetworkResponse(status: 200, body: Data(" {}".utf8)).isPage)
    #expect(!NetworkResponse(status: 200).isPage)
  }
}
