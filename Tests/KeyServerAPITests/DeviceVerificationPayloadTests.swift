import Foundation
import KeyServerAPI
import Testing

@Suite("Seed 4: the device verification payload")
struct DeviceVerificationPayloadTests {
  private let keys = [
    UploadKey(key: "z2Cx9hdz2SlxZ8GEgqTYpA==", rollingStartNumber: 1),
    UploadKey(key: "dPCphLzfG4uzXneNimkPRQ==", rollingStartNumber: 144),
  ]

  @Test("What is written is read back")
  func roundTrip() throws {
    let payload = DeviceVerificationPayload(
      deviceToken: Data([1, 2, 3]), transactionID: "ab", timestampMilliseconds: 1_600_000_000_123)
    #expect(DeviceVerificationPayload(base64: payload.base64) == payload)
    let json = try #require(Data(base64Encoded: payload.base64))
    #expect(
      String(decoding: json, as: UTF8.self)
        == #"{"deviceToken":"AQID","timestamp":1600000000123,"transactionId":"ab"}"#)
  }

  @Test("The transaction id is SHA-256 over app, sorted keys and sorted upper-case regions")
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
    "What cannot be read is nil", arguments: ["", "rubbish!", "e30=", "eyJkZXZpY2VUb2tlbiI6MX0="])
  func malformed(text: String) {
    #expect(DeviceVerificationPayload(base64: text) == nil)
  }

  @Test("A payload longer than the limit is not read", arguments: [0, 4])
  func limit(beyond: Int) {
    // The text grows by four characters for three bytes of token.
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
