import ArgumentParser

/// What the servers, and those who look after them, must be told alike.
struct ServerOptions: ParsableArguments {
  @Option(help: "The folder that the servers keep everything in.")
  var data = "firebreak-data"

  @Option(help: "The region, such as PL.")
  var region = "PL"

  @Option(help: "The app that may upload, by its package name.")
  var app = "pl.gov.mc.protegosafe"

  @Option(help: "The name by which the verification server signs.")
  var issuer = "verification.firebreak.example"

  @Option(help: "The name by which the key server is known to it.")
  var audience = "keys.firebreak.example"

  @Option(name: .customLong("key-id"), help: "The id of a new key that signs key files.")
  var keyID = "260"
}
