#include "derm/io/film.h"
#include "derm/io/film_reader.h"

namespace derm {
namespace {

Error filmsAbsent(const std::filesystem::path& file) {
  return Error{ErrorCode::Unsupported,
               "this derm was built without films (DERM_WITH_FILMS)",
               {.file = file.string()}};
}

}  // namespace

struct FilmWriter::Impl {};

FilmWriter::~FilmWriter() = default;
FilmWriter::FilmWriter(FilmWriter&&) noexcept = default;
FilmWriter& FilmWriter::operator=(FilmWriter&&) noexcept = default;

Result<void> validateFilm(const std::filesystem::path& file, const FilmDesc&) {
  return filmsAbsent(file);
}
Result<FilmWriter> FilmWriter::open(const std::filesystem::path& file, const FilmDesc&,
                                    Diagnostics&) {
  return filmsAbsent(file);
}
// Never reached: there is no writer without open().
Result<void> FilmWriter::add(const Rgba8Image&) { return filmsAbsent({}); }
Result<FilmResult> FilmWriter::finish() { return filmsAbsent({}); }

struct FilmReader::Impl {};

FilmReader::~FilmReader() = default;
FilmReader::FilmReader(FilmReader&&) noexcept = default;
FilmReader& FilmReader::operator=(FilmReader&&) noexcept = default;

Result<FilmReader> FilmReader::open(const std::filesystem::path& file, const FilmReadDesc&) {
  return filmsAbsent(file);
}
// Never reached: there is no reader without open().
Result<FilmReader> FilmReader::openCamera(int, const FilmReadDesc&) { return filmsAbsent({}); }

Result<bool> FilmReader::next(FilmFrame&) { return filmsAbsent({}); }

Result<FilmResult> writeFilm(const std::filesystem::path& file, const FilmDesc&, std::size_t,
                             const std::function<Result<Rgba8Image>(std::size_t)>&, const Progress&,
                             Diagnostics&) {
  return filmsAbsent(file);
}

}  // namespace derm
