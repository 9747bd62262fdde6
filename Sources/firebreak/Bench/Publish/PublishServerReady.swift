/// What the bench's own server says on stdout, in one line, once it listens.
struct PublishServerReady: Codable {
  let port: Int
}
