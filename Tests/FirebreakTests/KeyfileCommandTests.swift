import Foundation
import TestSupport
import Testing

@Suite("firebreak keyfile", .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
struct KeyfileCommandTests {
  private let example = SharedData.url("keyfiles/google-server-example")
  private var zip: String {
    example.appendingPathComponent("testExport-2-records-1-of-1.zip").path
  }
  private var publicKey: String { example.appendingPathComponent("public.pem").path }
  private var otherKey: String { SharedData.url("keyfiles/google-sample/public-310-v1.pem").path }

  @Test("inspect prints one JSON object of the promised shape")
  func inspect() throws {
    let run = try Run("keyfile", "inspect", "--json", zip)
    let facts = try #require(try run.json())
    #expect(run.status == 0 && run.errors.isEmpty)
    #expect(facts["start"] as? Int == 1_590_159_600)
    #expect(facts["end"] as? Int == 1_590_246_000)
    #expect(facts["region"] as? String == "US")
    #expect(facts["batchNum"] as? Int == 1)
    #expect(facts["batchSize"] as? Int == 1)
    #expect(facts["keyCount"] as? Int == 2)
    #expect(facts["revisedKeyCount"] as? Int == 0)
    #expect(
      facts["signatures"] as? [[String: String]] == [
        ["keyID": "some_id", "keyVersion": "1", "algorithm": "1.2.840.10045.4.3.2"]
      ])
    let digest = "38edb6fc758d9ba014eb66226a9ee580201de3a985dca5467234c5f41099ad3f"
    #expect(facts["exportSHA256"] as? String == digest)
  }

  @Test("verify answers 0 for the right key, 1 for another, 2 for what is no file or key")
  func verify() throws {
    #expect(try Run("keyfile", "verify", zip, "--public-key", publicKey).status == 0)
    #expect(
      try Run(
        "keyfile", "verify", zip, "--public-key", publicKey, "--key-id", "some_id",
        "--key-version", "1"
      ).status == 0)
    #expect(
      try Run("keyfile", "verify", zip, "--public-key", publicKey, "--key-version", "2").status
        == 1)
    #expect(try Run("keyfile", "verify", zip, "--public-key", otherKey).status == 1)
    #expect(try Run("keyfile", "verify", zip, "--public-key", zip).status == 2)
    #expect(try Run("keyfile", "verify", publicKey, "--public-key", publicKey).status == 2)
  }

  @Test("What make writes, verify accepts and inspect counts")
  func make() throws {
    let folder = try TemporaryFolder()
    let output = folder.path("made.zip").path
    let made = try Run(
      "keyfile", "make", "--keys", example.appendingPathComponent("keys.json").path,
      "--signing-key", example.appendingPathComponent("private.pem").path, "--key-id", "260",
      "--key-version", "v1", "--region", "PL", "--start", "1590159600", "--end", "1590246000",
      "--output", output)
    #expect(made.status == 0, "\(made.errors)")
    #expect(try Run("keyfile", "verify", output, "--public-key", publicKey).status == 0)
    #expect(try Run("keyfile", "inspect", "--json", output).json()?["keyCount"] as? Int == 2)
  }

  @Test("Bad usage is exit code 2 and one line on stderr")
  func usage() throws {
    for run in [try Run("keyfile", "verify"), try Run("nonsense"), try Run("keyfile", "x")] {
      #expect(run.status == 2 && run.output.isEmpty)
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }

  @Test("Help and version are exit code 0 on stdout")
  func help() throws {
    for run in [try Run("--help"), try Run("keyfile", "make", "--help"), try Run("--version")] {
      #expect(run.status == 0 && !run.output.isEmpty && run.errors.isEmpty)
    }
  }
}
