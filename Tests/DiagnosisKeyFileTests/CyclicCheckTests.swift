import Testing

@testable import DiagnosisKeyFile

@Suite("CRC-32 of what lies beside each other")
struct CyclicCheckTests {
  private func check(of bytes: [UInt8]) -> CyclicCheck {
    bytes.withUnsafeBufferPointer { CyclicCheck(of: $0) }
  }

  @Test("The published check value comes out, wherever the nine digits are cut", arguments: 0...9)
  func joined(at cut: Int) {
    let digits = Array("123456789".utf8)
    var joined = CyclicCheck()
    joined.append(check(of: Array(digits[..<cut])))
    joined.append(check(of: Array(digits[cut...])))
    #expect(joined.value == 0xcbf4_3926)
    #expect(joined.byteCount == 9)
  }
}
