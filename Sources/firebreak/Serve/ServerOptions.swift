import ArgumentParser

/// What the servers, and those who look after them, must be told alike. What is named here holds in place of what
/// the files of settings say.
struct ServerOptions: ParsableArguments {
  @Option(help: "The folder that the servers keep everything in.")
  var data = "firebreak-data"

  @Option(help: "The region, such as PL; otherwise as the key server's settings say.")
  var region: String?

  @Option(help: "The app that may upload, by its package name; otherwise as the settings say.")
  var app: String?

  @Option(help: "The name by which the verification server signs; otherwise as the settings say.")
  var issuer: String?

  @Option(help: "The name by which it knows the key server; otherwise as the settings say.")
  var audience: String?

  @Option(
    name: .customLong("key-id"),
    help: "The id of a first key that signs key files; otherwise as the settings say.")
  var keyID: String?
}
