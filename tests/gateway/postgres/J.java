import java.sql.*;

/** Asks a gateway by JDBC, and prints what it says. */
public class J {
  static void show(String what, ResultSet rows) throws Exception {
    ResultSetMetaData about = rows.getMetaData();
    while (rows.next()) {
      StringBuilder line = new StringBuilder(what);
      for (int i = 1; i <= about.getColumnCount(); i++) line.append('|').append(rows.getString(i));
      System.out.println(line);
    }
    rows.close();
  }

  public static void main(String[] given) throws Exception {
    Connection line = DriverManager.getConnection(given[0], given[1], given[2]);
    DatabaseMetaData about = line.getMetaData();
    show("table", about.getTables(null, "public", "%", new String[] {"TABLE", "VIEW"}));
    show("column", about.getColumns(null, "public", "stays", "%"));
    show("key", about.getPrimaryKeys(null, "public", "stays"));
    show("reference", about.getImportedKeys(null, "public", "stays"));
    show("index", about.getIndexInfo(null, "public", "stays", false, true));
    show("schema", about.getSchemas());
    show("type", about.getTypeInfo());
    PreparedStatement prepared = line.prepareStatement("SELECT ward, beds FROM wards WHERE beds > ?");
    for (int i = 0; i < 8; i++) {
      prepared.setInt(1, i);
      show("prepared" + i, prepared.executeQuery());
    }
    System.out.println("said|" + prepared.getMetaData().getColumnTypeName(2));
    line.setAutoCommit(false);
    Statement fetching = line.createStatement();
    fetching.setFetchSize(1);
    show("fetched", fetching.executeQuery("SELECT ward, beds FROM wards ORDER BY ward"));
    line.commit();
    try {
      line.createStatement().executeQuery("SELECT name FROM stays");
    } catch (SQLException refused) {
      System.out.println("refused|" + refused.getSQLState());
    }
    line.rollback();
    System.out.println("valid|" + line.isValid(5));
    line.close();
  }
}
