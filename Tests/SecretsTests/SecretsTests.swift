// SPDX-License-Identifier: Apache-2.0
import Secrets
import Testing

@Suite("Secrets")
struct SecretsTests {
  private struct Token: Redacted {
    let text = "hunter2"
  }

  private struct Upload: Redacted {
    let token = "hunter2"
    let keyCount: Int

    var description: String { "Upload(\(keyCount) keys)" }
  }

  @Test("A redacted value prints its type only")
  func typeName() {
    var dumped = ""
    dump(Token(), to: &dumped)
    let texts = [
      "\(Token())", String(reflecting: Token()), "\([Token()])",
      String(describing: Token?.some(Token())), dumped,
    ]
    for text in texts {
      #expect(!text.contains("hunter2"))
      #expect(text.contains("Token"))
    }
  }

  @Test("A redacted value with a description of its own uses it for debugging too")
  func description() {
    var dumped = ""
    dump(Upload(keyCount: 3), to: &dumped)
    #expect(String(reflecting: Upload(keyCount: 3)) == "Upload(3 keys)")
    #expect(!dumped.contains("hunter2"))
  }

  @Test(
    "Constant-time comparison finds a difference in any byte and in the length",
    arguments: [0, 1, 16, 33])
  func equality(count: Int) {
    let bytes = (0..<count).map { UInt8($0) }
    #expect(isEqualInConstantTime(bytes, bytes))
    #expect(!isEqualInConstantTime(bytes, bytes + [0]))
    for index in bytes.indices {
      for bit in 0..<8 {
        var other = bytes
        other[index] ^= 1 << bit
        #expect(!isEqualInConstantTime(bytes, other))
      }
    }
  }
}
