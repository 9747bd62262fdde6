import Foundation

/// The server of the health authority, as the app uses it. Handlers are called on the main queue.
public protocol HealthAuthority: AnyObject {
  /// Whether `code` belongs to a positive test and has not been used.
  func verify(code: String, completion: @escaping (Result<Bool, Error>) -> Void)

  /// Publishes keys that the server does not have yet; uses the code up.
  func post(_ keys: [PublishedKey], code: String, completion: @escaping (Error?) -> Void)

  /// The numbers of the key files from `number` on, ascending.
  func keyFiles(from number: Int, completion: @escaping (Result<[Int], Error>) -> Void)

  /// Downloads one key file; the app deletes it.
  func download(keyFile number: Int, completion: @escaping (Result<URL, Error>) -> Void)

  /// How exposures are to be scored.
  func criteria(completion: @escaping (Result<ExposureCriteria, Error>) -> Void)
}
