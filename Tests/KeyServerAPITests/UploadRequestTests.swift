// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import Testing

@Suite("The form of an upload")
struct UploadRequestTests {
  private let protegoForm = """
    {"data":{"temporaryExposureKeys":[{"key":"z2Cx9hdz2SlxZ8GEgqTYpA==","rollingPeriod":144,
     "rollingStartNumber":2666440,"transmissionRisk":8}],"regions":["PL"],"platform":"ios",
     "appPackageName":"pl.gov.mc.protegosafe","verificationPayload":"secret-token"},
     "isInteroperabilityEnabled":true}
    """

  @Test("Both ProteGO Safe forms are decoded, with unknown fields and without optional ones")
  func formsAreDecoded() throws {
    let request = try JSONDecoder().decode(UploadRequest.self, from: Data(protegoForm.utf8))
    #expect(request.data.temporaryExposureKeys.map(\.rollingStartNumber) == [2_666_440])
    #expect(request.data.verificationPayload == "secret-token")
    #expect(request.data.hmackey == nil)
    #expect(request.isInteroperabilityEnabled == true)
    let callable = protegoForm.replacingOccurrences(
      of: #""isInteroperabilityEnabled":true"#, with: #""somethingNew":1,"padding":"AAAA""#)
    let other = try JSONDecoder().decode(UploadRequest.self, from: Data(callable.utf8))
    #expect(other.isInteroperabilityEnabled == nil)
    #expect(other.data == request.data)
  }

  @Test("The response is that of the ProteGO Safe contract")
  func response() throws {
    let json = try JSONEncoder().encode(UploadResponse.accepted)
    #expect(String(decoding: json, as: UTF8.self) == #"{"result":""}"#)
  }

  @Test("Keys and tokens do not appear in printed or dumped values")
  func secretsAreRedacted() throws {
    let request = try JSONDecoder().decode(UploadRequest.self, from: Data(protegoForm.utf8))
    let proof = DeviceVerificationPayload(
      deviceToken: Data("secret-token".utf8), transactionID: "z2Cx", timestampMilliseconds: 1)
    for value in [request, request.data, request.data.temporaryExposureKeys, proof] as [Any] {
      var text = "\(value) \(String(reflecting: value))"
      dump(value, to: &text)
      #expect(!text.contains("z2Cx"))
      #expect(!text.contains("secret-token"))
    }
  }
}

@Suite("The device verification payload")
struct DeviceVerificationPayloadTests {
  private let keys = [
    UploadKey(key: "z2Cx9hdz2SlxZ8GEgqTYpA==", rollingStartNumber: 1),
    UploadKey(key: "dPCphLzfG4uzXneNimkPRQ==", rollingStartNumber: 144),
  ]

  @Test("An encoded payload is decoded again")
  func roundTrip() throws {
    let payload = DeviceVerificationPayload(
      deviceToken: Data([1, 2, 3]), transactionID: "ab", timestampMilliseconds: 1_600_000_000_123)
    #expect(DeviceVerificationPayload(base64: payload.base64) == payload)
    let json = try #require(Data(base64Encoded: payload.base64))
    #expect(
      String(decoding: json, as: UTF8.self)
        == #"{"deviceToken":"AQID","timestamp":1600000000123,"transactionId":"ab"}"#)
  }

  @Test("The transaction ID is SHA-256 over app, sorted keys and sorted upper-case regions")
  func transactionID() {
    // printf 'pl.gov.mc.protegosafedPCphLzfG4uzXneNimkPRQ==z2Cx9hdz2SlxZ8GEgqTYpA==CZPL' | sha256sum
    let expected = "fea5200e75a0e7608a717b8711e3c9b2b2f715e277734031086d3341992a92f8"
    for (keys, regions) in [(keys, ["PL", "cz"]), (keys.reversed(), ["CZ", "pl"])] {
      #expect(
        DeviceVerificationPayload.transactionID(
          appPackageName: "pl.gov.mc.protegosafe", keys: keys, regions: regions) == expected)
    }
  }

  @Test(
    "An invalid payload is nil", arguments: ["", "rubbish!", "e30=", "eyJkZXZpY2VUb2tlbiI6MX0="])
  func malformed(text: String) {
    #expect(DeviceVerificationPayload(base64: text) == nil)
  }

  @Test("A payload above the limit is rejected", arguments: [0, 4])
  func limit(beyond: Int) {
    // Three bytes of token are four characters of text.
    let room = UploadLimit.deviceVerificationBytesMax / 4 * 3
    let frame = #"{"deviceToken":"","timestamp":1,"transactionId":""}"#.utf8.count
    var payload = DeviceVerificationPayload(
      deviceToken: Data(), transactionID: String(repeating: "a", count: room - frame + beyond),
      timestampMilliseconds: 1)
    #expect((DeviceVerificationPayload(base64: payload.base64) == nil) == (beyond > 0))
    payload = DeviceVerificationPayload(
      deviceToken: Data(), transactionID: "a", timestampMilliseconds: 1)
    #expect(DeviceVerificationPayload(base64: payload.base64) == payload)
  }
}
