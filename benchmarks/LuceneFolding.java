import java.io.PrintStream;
import org.apache.lucene.analysis.miscellaneous.ASCIIFoldingFilter;
import org.apache.lucene.util.Version;

/**
 * Prints what Lucene's ASCIIFoldingFilter writes for each lower-case letter and each digit above ASCII, one a line:
 * java -cp anserini-fatjar.jar benchmarks/LuceneFolding.java > tests/golden/lucene-folding.tsv
 */
public class LuceneFolding {
  public static void main(String[] arguments) throws Exception {
    PrintStream out = new PrintStream(System.out, true, "UTF-8");
    out.println("# Lucene " + Version.LATEST + ", by benchmarks/LuceneFolding.java");
    for (char c = 0x80; c < 0xD800; c++) print(c, out);
    for (char c = 0xE000; c < 0xFFFF; c++) print(c, out);
  }

  private static void print(char c, PrintStream out) {
    char[] folded = new char[4];
    int size = ASCIIFoldingFilter.foldToASCII(new char[] {c}, 0, folded, 0, 1);
    boolean counts = Character.isLetterOrDigit(c) && !Character.isUpperCase(c);
    if (counts && (size != 1 || folded[0] != c)) out.println(c + "\t" + new String(folded, 0, size));
  }
}
