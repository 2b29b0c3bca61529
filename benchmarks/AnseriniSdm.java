import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.lucene.analysis.Analyzer;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.similarities.BM25Similarity;
import org.apache.lucene.store.MMapDirectory;

/**
 * Prints the processor time per query of Anserini's SDM and of its bag of words, as JSON. benchmarks/dependence.py compiles
 * and runs it: AnseriniSdm INDEX QUERIES WARM DEPTH
 *
 * The first WARM queries of the file are not timed; they are asked ROUNDS times, so that Java compiles the code. Anserini's
 * classes are found by name, because they need a newer compiler than Lucene's.
 */
public class AnseriniSdm {
  private static final int ROUNDS = 5;

  public static void main(String[] arguments) throws Exception {
    IndexSearcher searcher = new IndexSearcher(DirectoryReader.open(new MMapDirectory(Path.of(arguments[0]))));
    searcher.setSimilarity(new BM25Similarity(0.9f, 0.4f));
    searcher.setQueryCache(null);
    List<String> queries = Files.readAllLines(Path.of(arguments[1]));
    int warm = Integer.parseInt(arguments[2]), depth = Integer.parseInt(arguments[3]);
    double words = seconds(searcher, "BagOfWordsQueryGenerator", queries, warm, depth);
    double sdm = seconds(searcher, "SdmQueryGenerator", queries, warm, depth);
    System.out.println("{\"words\": " + words + ", \"sdm\": " + sdm + "}");
  }

  private static double seconds(IndexSearcher searcher, String name, List<String> queries, int warm, int depth)
      throws Exception {
    Class<?> analyzers = Class.forName("io.anserini.analysis.DefaultEnglishAnalyzer");
    Analyzer analyzer = (Analyzer) analyzers.getMethod("newDefaultInstance").invoke(null);
    Class<?> generators = Class.forName("io.anserini.search.query." + name);
    Object generator = generators.getConstructor().newInstance();
    Method build = generators.getMethod("buildQuery", String.class, Analyzer.class, String.class);
    for (int round = 0; round < ROUNDS; round++) {
      for (String query : queries.subList(0, warm)) {
        searcher.search((Query) build.invoke(generator, "contents", analyzer, query), depth);
      }
    }
    long begin = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    for (String query : queries.subList(warm, queries.size())) {
      searcher.search((Query) build.invoke(generator, "contents", analyzer, query), depth);
    }
    return (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - begin) / 1e9 / (queries.size() - warm);
  }
}
