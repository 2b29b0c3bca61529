package sublex;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Set;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MultiBits;
import org.apache.lucene.index.MultiDocValues;
import org.apache.lucene.index.MultiTerms;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.PostingsEnum;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.Terms;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopScoreDocCollector;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.BytesRef;

/**
 * Reads one field of a Lucene index in bulk: each method returns many values as bytes, little-endian.
 *
 * <p>Python calls it through JNI, where one call for each posting would be too slow. Documents have the numbers of the
 * live documents in the order of Lucene's numbers, so deleted documents have none. `python -m
 * sublex_lucene.compile` compiles it.
 */
public final class Bulk {
  private static final int LARGEST = Integer.MAX_VALUE - 8;

  private final IndexReader reader;
  private final IndexSearcher searcher;
  private final String field, idField;
  /** The number of each of Lucene's documents, -1 if it is deleted; and Lucene's number of each document. */
  private final int[] numbers, originals;
  private final int[] lengths;
  private final TermsEnum terms;
  private final BinaryDocValues ids;
  private final StoredFields stored;
  private PostingsEnum postings;
  /** Whether `postings` has passed the last term; Lucene leaves undefined what a further `next` does. */
  private boolean finished;
  private ByteBuffer termBytes = room(1 << 16), sizes = room(1 << 16), docs = room(1 << 20), tfs = room(1 << 20);
  private ByteBuffer positions = room(1 << 20);

  public Bulk(IndexSearcher searcher, String field, String idField) throws IOException {
    this.searcher = searcher;
    this.field = field;
    this.idField = idField;
    reader = searcher.getIndexReader();
    numbers = new int[reader.maxDoc()];
    originals = new int[reader.numDocs()];
    lengths = new int[reader.numDocs()];
    Bits live = MultiBits.getLiveDocs(reader);
    for (int doc = 0, number = 0; doc < numbers.length; doc++) {
      numbers[doc] = live == null || live.get(doc) ? number : -1;
      if (numbers[doc] >= 0) {
        originals[number++] = doc;
      }
    }
    Terms found = MultiTerms.getTerms(reader, field);
    terms = found == null ? TermsEnum.EMPTY : found.iterator();
    ids = MultiDocValues.getBinaryValues(reader, idField);
    stored = reader.storedFields();
  }

  /**
   * Returns the posting lists of the next terms, some `limit` postings or positions of them: the terms end to end;
   * pairs of a term's size in bytes and its number of postings; documents; frequencies; and the positions of all
   * postings, none unless `withPositions`. Returns an empty array after the last term.
   */
  public byte[][] postings(int limit, boolean withPositions) throws IOException {
    for (ByteBuffer buffer : new ByteBuffer[] {termBytes, sizes, docs, tfs, positions}) {
      buffer.clear();
    }
    int total = 0;
    while (total < limit && positions.position() / 4 < limit && !(finished = finished || terms.next() == null)) {
      int df = addPostings(withPositions);
      if (df > 0) {
        BytesRef term = terms.term();
        termBytes = withRoom(termBytes, term.length).put(term.bytes, term.offset, term.length);
        sizes = withRoom(sizes, 8).putInt(term.length).putInt(df);
        total += df;
      }
    }
    return total == 0
        ? new byte[0][]
        : new byte[][] {content(termBytes), content(sizes), content(docs), content(tfs), content(positions)};
  }

  /** Adds the postings of the current term to `docs`, `tfs` and `positions`, and returns their number. */
  private int addPostings(boolean withPositions) throws IOException {
    postings = terms.postings(postings, withPositions ? PostingsEnum.POSITIONS : PostingsEnum.FREQS);
    int df = 0;
    for (int doc = postings.nextDoc(); doc != PostingsEnum.NO_MORE_DOCS; doc = postings.nextDoc()) {
      int number = numbers[doc];
      if (number >= 0) {
        docs = withRoom(docs, 4).putInt(number);
        tfs = withRoom(tfs, 4).putInt(postings.freq());
        lengths[number] = Math.addExact(lengths[number], postings.freq());
        df++;
        for (int left = withPositions ? postings.freq() : 0; left > 0; left--) {
          positions = withRoom(positions, 4).putInt(postings.nextPosition());
        }
      }
    }
    return df;
  }

  /**
   * Returns the ids of some documents end to end; pairs of an id's size in bytes, -1 if there is none, and the
   * document's length, which is the sum of the frequencies that `postings` has returned.
   */
  public byte[][] documents(int first, int count) throws IOException {
    termBytes.clear();
    sizes.clear();
    int end = Math.min(first + count, originals.length);
    for (int number = first; number < end; number++) {
      BytesRef id = id(originals[number]);
      if (id != null) {
        termBytes = withRoom(termBytes, id.length).put(id.bytes, id.offset, id.length);
      }
      sizes = withRoom(sizes, 8).putInt(id == null ? -1 : id.length).putInt(lengths[number]);
    }
    return new byte[][] {content(termBytes), content(sizes)};
  }

  /** Returns the id of a document: its value in the columns of the index, else the stored one, else null. */
  private BytesRef id(int doc) throws IOException {
    if (ids != null) {
      return (ids.docID() >= doc ? ids.docID() == doc : ids.advanceExact(doc)) ? ids.binaryValue() : null;
    }
    String id = stored.document(doc, Set.of(idField)).get(idField);
    return id == null ? null : new BytesRef(id);
  }

  /** Returns Lucene's number of a document. */
  public int original(int number) {
    return originals[number];
  }

  /** Returns the query that adds up the weighted scores of terms. */
  public Query query(String[] terms, float[] weights) {
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    for (int i = 0; i < terms.length; i++) {
      query.add(new BoostQuery(new TermQuery(new Term(field, terms[i])), weights[i]), BooleanClause.Occur.SHOULD);
    }
    return query.build();
  }

  /** Returns the numbers of the best k documents and their scores. */
  public byte[][] search(Query query, int k) throws IOException {
    TopScoreDocCollector collector = TopScoreDocCollector.create(Math.min(k, originals.length), k);
    searcher.search(query, collector);
    ScoreDoc[] found = collector.topDocs().scoreDocs;
    ByteBuffer out = room(4 * found.length), scores = room(4 * found.length);
    for (ScoreDoc hit : found) {
      out.putInt(numbers[hit.doc]);
      scores.putFloat(hit.score);
    }
    return new byte[][] {content(out), content(scores)};
  }

  /** Returns the scores of documents, whose numbers ascend; negative infinity for those that do not match. */
  public byte[] scores(Query query, byte[] wanted) throws IOException {
    ByteBuffer numbers = ByteBuffer.wrap(wanted).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer scores = room(wanted.length);
    Weight weight = searcher.createWeight(searcher.rewrite(query), ScoreMode.COMPLETE, 1);
    LeafReaderContext leaf = null;
    Scorer scorer = null;
    while (numbers.hasRemaining()) {
      int doc = originals[numbers.getInt()];
      if (leaf == null || doc >= leaf.docBase + leaf.reader().maxDoc()) {
        leaf = leafOf(doc);
        scorer = weight.scorer(leaf);
      }
      int target = doc - leaf.docBase;
      boolean matches =
          scorer != null && (scorer.docID() < target ? scorer.iterator().advance(target) : scorer.docID()) == target;
      scores.putFloat(matches ? scorer.score() : Float.NEGATIVE_INFINITY);
    }
    return content(scores);
  }

  /** Returns the frequency of each of these terms in a document, 0 if it does not hold the term. */
  public byte[] frequencies(int number, String[] wanted) throws IOException {
    ByteBuffer found = room(4 * wanted.length);
    for (String term : wanted) {
      PostingsEnum list = MultiTerms.getTermPostingsEnum(reader, field, new BytesRef(term), PostingsEnum.FREQS);
      boolean holds = list != null && list.advance(originals[number]) == originals[number];
      found.putInt(holds ? list.freq() : 0);
    }
    return content(found);
  }

  /** Returns the norm of a document, which is its length in one byte; -1 if it has none. */
  public long norm(int number) throws IOException {
    NumericDocValues norms = MultiDocValues.getNormValues(reader, field);
    return norms != null && norms.advanceExact(originals[number]) ? norms.longValue() : -1;
  }

  private LeafReaderContext leafOf(int doc) {
    for (LeafReaderContext leaf : reader.leaves()) {
      if (doc < leaf.docBase + leaf.reader().maxDoc()) {
        return leaf;
      }
    }
    throw new IndexOutOfBoundsException(doc);
  }

  private static ByteBuffer room(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static ByteBuffer withRoom(ByteBuffer buffer, int bytes) {
    if (buffer.remaining() >= bytes) {
      return buffer;
    }
    long size = Math.max(2L * buffer.capacity(), (long) buffer.position() + bytes);
    return room((int) Math.min(size, LARGEST)).put(buffer.flip());
  }

  private static byte[] content(ByteBuffer buffer) {
    return Arrays.copyOf(buffer.array(), buffer.position());
  }
}
