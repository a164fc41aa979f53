import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Kafka's own codec as an oracle. Reads lines of name, version and JSON value, tab-separated; writes the bytes of each as hex.
 * A line 'errors' gives the error codes as JSON. Run with kafka-clients and Jackson on the class path.
 */
public class KafkaOracle {
  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    ObjectMapper mapper = new ObjectMapper();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      if (line.equals("errors")) {
        StringBuilder out = new StringBuilder("{");
        for (Errors e : Errors.values()) out.append(out.length() > 1 ? "," : "").append('"').append(e.name()).append("\":").append(e.code());
        System.out.println(out.append('}'));
        continue;
      }
      String[] parts = line.split("\t", 3);
      short version = Short.parseShort(parts[1]);
      Class<?> converter = Class.forName("org.apache.kafka.common.message." + parts[0] + "DataJsonConverter");
      Message message = (Message) converter.getMethod("read", JsonNode.class, short.class).invoke(null, mapper.readTree(parts[2]), version);
      ObjectSerializationCache cache = new ObjectSerializationCache();
      ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
      message.write(new ByteBufferAccessor(buffer), cache, version);
      if (buffer.hasRemaining()) throw new IllegalStateException(parts[0] + " left bytes free");
      System.out.println(HexFormat.of().formatHex(buffer.array()));
    }
  }
}
